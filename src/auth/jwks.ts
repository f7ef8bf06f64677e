// The key sets of access providers, cached: refreshed five minutes after they were loaded, dropped an hour after
// their last use, reloaded (at most twice a second) when a token names a key they do not have. Requests that need
// the same set at the same time share one fetch.

import type { CryptoKey } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../base/clock.ts'
import { FairRunner } from '../base/fair-queue.ts'
import { limits } from '../limits.ts'
import type { FetchKeySet } from './jwks-fetch.ts'

/** The signature algorithms that tokens may use: RSA with PKCS #1 padding only. */
export const signatureAlgorithms = ['RS256', 'RS384', 'RS512'] as const
export type SignatureAlgorithm = (typeof signatureAlgorithms)[number]

type Jwk = Readonly<Record<string, unknown>>

/** A key ready for use. The same object as long as the provider's set stays the same. */
export type VerificationKey = CryptoKey | Uint8Array

interface Import {
  readonly pending: Promise<VerificationKey>
  key: VerificationKey | undefined
}

/** Counted for every entry beside its text, so that failures cannot pile up either. */
const entryOverheadBytes = 1024

/** Times are milliseconds of {@link Clock.elapsedMs}. */
interface Entry {
  /** Undefined as long as no load has succeeded. */
  keys: readonly Jwk[] | undefined
  etag: string | undefined
  /** When the set was last known to be current. */
  loadedAt: number
  /** When a load last ended, and why it failed if it did. */
  attemptedAt: number
  failure: Error | undefined
  loading: Promise<void> | undefined
  readonly imported: Map<string, Import>
}

/** The key sets of all access providers of a process. */
export class KeySets {
  readonly #fetch: FetchKeySet
  readonly #clock: Clock
  readonly #onFailure: (uri: string, reason: string) => void
  readonly #queue = new FairRunner(
    limits.jwksFetchesAtOnceMax,
    limits.jwksFetchesWaitingMax,
    () => new Error('too many key sets are being fetched'),
  )
  readonly #entries: LRUCache<string, Entry>

  /** `onFailure` is told why a set is not available: once, until the reason changes. */
  constructor(fetch: FetchKeySet, clock: Clock, onFailure: (uri: string, reason: string) => void = () => {}) {
    this.#fetch = fetch
    this.#clock = clock
    this.#onFailure = onFailure
    this.#entries = new LRUCache({
      maxSize: limits.jwksCacheBytesMax,
      // Dropped is what is older than this.
      ttl: limits.jwksIdleMs - 1,
      ttlResolution: 0,
      updateAgeOnGet: true,
      perf: { now: () => clock.elapsedMs() },
    })
  }

  /**
   * The public key that signs with that `kid`; without one, the only key of the set. Sets that are fetched for different
   * owners take turns. Rejects with an Error whose message is the reason, for the service's own log.
   */
  async key(
    uri: string,
    kid: string | undefined,
    algorithm: SignatureAlgorithm,
    owner = '',
  ): Promise<VerificationKey> {
    const entry = this.#entry(uri)
    if (!entry.keys || this.#clock.elapsedMs() - entry.loadedAt >= limits.jwksRefreshMs) {
      await this.#load(uri, entry, entry.etag, owner)
    }
    let jwk = select(entry.keys ?? [], kid)
    if (!jwk && kid !== undefined && this.#clock.elapsedMs() - entry.attemptedAt >= limits.jwksReloadMs) {
      await this.#load(uri, entry, undefined, owner)
      jwk = select(entry.keys ?? [], kid)
    }
    if (!jwk) throw new Error(kid === undefined ? 'no kid and not exactly one key' : 'the kid is unknown')
    return importKey(entry, jwk, algorithm)
  }

  /** What {@link key} would resolve with, if that needs no waiting. */
  readyKey(uri: string, kid: string | undefined, algorithm: SignatureAlgorithm): VerificationKey | undefined {
    const known = this.#entries.get(uri)
    if (!known?.keys || this.#clock.elapsedMs() - known.loadedAt >= limits.jwksRefreshMs) return undefined
    const jwk = select(known.keys, kid)
    return jwk && known.imported.get(importName(jwk, algorithm))?.key
  }

  #entry(uri: string): Entry {
    const known = this.#entries.get(uri)
    if (known) return known
    this.#entries.purgeStale()
    const entry: Entry = {
      keys: undefined,
      etag: undefined,
      loadedAt: this.#clock.elapsedMs(),
      attemptedAt: -Infinity,
      failure: undefined,
      loading: undefined,
      imported: new Map(),
    }
    this.#entries.set(uri, entry, { size: entryOverheadBytes })
    return entry
  }

  /** Loads the set, or joins a load under way. A failure holds for half a second, so it is not asked in a loop. */
  async #load(uri: string, entry: Entry, etag: string | undefined, owner: string): Promise<void> {
    const sinceAttempt = this.#clock.elapsedMs() - entry.attemptedAt
    if (entry.failure && !entry.loading && sinceAttempt < limits.jwksReloadMs) throw entry.failure
    entry.loading ??= this.#loadNow(uri, entry, etag, owner)
    await entry.loading
  }

  async #loadNow(uri: string, entry: Entry, etag: string | undefined, owner: string): Promise<void> {
    try {
      const fetched = await this.#queue.run([owner], () => this.#fetch(uri, etag))
      if (fetched.modified) this.#replace(uri, entry, fetched.body, fetched.etag)
      entry.loadedAt = this.#clock.elapsedMs()
      entry.failure = undefined
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error))
      if (entry.failure?.message !== failure.message) this.#onFailure(uri, failure.message)
      entry.failure = failure
      throw failure
    } finally {
      entry.attemptedAt = this.#clock.elapsedMs()
      entry.loading = undefined
    }
  }

  #replace(uri: string, entry: Entry, body: string, etag: string | undefined): void {
    entry.keys = parseKeySet(body)
    entry.etag = etag
    entry.imported.clear()
    if (this.#entries.peek(uri) !== entry) return
    // The size of an entry that is set again is not looked at.
    this.#entries.delete(uri)
    this.#entries.set(uri, entry, { size: entryOverheadBytes + body.length })
  }
}

function parseKeySet(body: string): readonly Jwk[] {
  let set: unknown
  try {
    set = JSON.parse(body)
  } catch {
    throw new Error('the key set is not JSON')
  }
  const keys: unknown = isRecord(set) ? set.keys : undefined
  if (!Array.isArray(keys) || !keys.every(isRecord)) throw new Error('the key set has no list of keys')
  if (keys.length > limits.jwksKeysMax) throw new Error('the key set has too many keys')
  return keys
}

function isRecord(value: unknown): value is Jwk {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function select(keys: readonly Jwk[], kid: string | undefined): Jwk | undefined {
  if (kid === undefined) return keys.length === 1 ? keys[0] : undefined
  return keys.find(key => key.kid === kid)
}

function importName(jwk: Jwk, algorithm: SignatureAlgorithm): string {
  return `${algorithm} ${String(jwk.kid)}`
}

/** Only the public RSA numbers are taken, so a key can never be used as anything else. */
async function importKey(entry: Entry, jwk: Jwk, algorithm: SignatureAlgorithm): Promise<VerificationKey> {
  const { kty, n, e, use, alg } = jwk
  if (kty !== 'RSA' || typeof n !== 'string' || typeof e !== 'string') throw new Error('the key is not RSA')
  if (use !== undefined && use !== 'sig') throw new Error('the key is not for signatures')
  if (alg !== undefined && alg !== algorithm) throw new Error('the key is for another algorithm')
  const name = importName(jwk, algorithm)
  let imported = entry.imported.get(name)
  if (!imported) {
    // Loaded where tokens of third parties are used: it takes a while.
    const pending = import('jose').then(({ importJWK }) => importJWK({ kty, n, e }, algorithm)).then(sound)
    imported = { pending, key: undefined }
    entry.imported.set(name, imported)
  }
  imported.key = await imported.pending
  return imported.key
}

/**
 * The key, whose exponent has to be odd and greater than 1: with the exponent 1 every padded digest is its own signature, which
 * anyone can make.
 */
function sound(key: VerificationKey): VerificationKey {
  if (key instanceof Uint8Array) return key
  const { publicExponent } = key.algorithm as typeof key.algorithm & { readonly publicExponent: Uint8Array }
  const digits = Buffer.from(publicExponent).toString('hex').replace(/^0+/, '')
  if (digits === '' || digits === '1' || !/[13579bdf]$/.test(digits))
    throw new Error('the exponent of the key is no RSA exponent')
  return key
}
