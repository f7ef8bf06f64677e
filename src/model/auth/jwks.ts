// A cache of the key sets of access providers. If a key set does not contain the key of a token, it is reloaded, at
// most twice a second. Concurrent requests for a key set wait for the same fetch.

import type { CryptoKey } from 'jose'
import { LRUCache } from 'lru-cache'
import { FairRunner } from '../../base/admission/fair-queue.ts'
import type { Clock } from '../../base/clock.ts'
import type { FetchKeySet } from './jwks-fetch.ts'

export const jwksLimits = {
  /** Maximum number of bytes of all cached key sets together. */
  jwksCacheBytesMax: 16_777_216,
  /** Maximum number of keys in one key set. Even an empty key takes 60 bytes of memory; own limit. */
  jwksKeysMax: 4096,
  /** Milliseconds after which a key set is reloaded at its next use. */
  jwksRefreshMs: 300_000,
  /** Milliseconds after which an unused key set is removed from the cache. */
  jwksIdleMs: 3_600_000,
  /** Milliseconds after which a load of a key set may be repeated because of a missing key or a failure. */
  jwksReloadMs: 500,
  /** Maximum number of concurrent fetches of key sets; own limit. */
  jwksFetchesAtOnceMax: 32,
  /** Maximum number of waiting fetches of key sets; own limit. */
  jwksFetchesWaitingMax: 1000,
} as const

/** RSA with PKCS #1 padding only. */
export const signatureAlgorithms = ['RS256', 'RS384', 'RS512'] as const
export type SignatureAlgorithm = (typeof signatureAlgorithms)[number]

type Jwk = Readonly<Record<string, unknown>>

/** The cache returns the same object for a key until the key set changes. */
export type VerificationKey = CryptoKey | Uint8Array

interface Import {
  readonly pending: Promise<VerificationKey>
  key: VerificationKey | undefined
}

/** Overhead of each entry, so the cache also limits the number of entries without keys. */
const entryOverheadBytes = 1024

/** Times are milliseconds of {@link Clock.elapsedMs}. */
interface Entry {
  /** Undefined until the first successful load. */
  keys: readonly Jwk[] | undefined
  etag: string | undefined
  /** The last successful load or, before it, the creation of the entry. */
  loadedAt: number
  /** The end of the last load. If the load failed, `failure` is the error. */
  loadEndedAt: number
  failure: Error | undefined
  loading: Promise<void> | undefined
  readonly imported: Map<string, Import>
}

/** All access providers of a process share these key sets. */
export class KeySets {
  readonly #fetch: FetchKeySet
  readonly #clock: Clock
  readonly #onFailure: (uri: string, reason: string) => void
  readonly #queue = new FairRunner(
    jwksLimits.jwksFetchesAtOnceMax,
    jwksLimits.jwksFetchesWaitingMax,
    () => new Error('too many key sets are being fetched'),
  )
  readonly #entries: LRUCache<string, Entry>

  /** `onFailure` is called once for consecutive failures with the same reason. */
  constructor(fetch: FetchKeySet, clock: Clock, onFailure: (uri: string, reason: string) => void = () => {}) {
    this.#fetch = fetch
    this.#clock = clock
    this.#onFailure = onFailure
    this.#entries = new LRUCache({
      maxSize: jwksLimits.jwksCacheBytesMax,
      // The cache removes an entry when its age exceeds `ttl`, so `ttl` is one millisecond less than the limit.
      ttl: jwksLimits.jwksIdleMs - 1,
      ttlResolution: 0,
      updateAgeOnGet: true,
      perf: { now: () => clock.elapsedMs() },
    })
  }

  /**
   * The public key with the given `kid`; without a `kid`, the only key of the set. Fetches of different owners are
   * scheduled fairly. Rejects with an Error whose message is the reason in the service log.
   */
  async key(
    uri: string,
    kid: string | undefined,
    algorithm: SignatureAlgorithm,
    owner = '',
  ): Promise<VerificationKey> {
    const entry = this.#entry(uri)
    if (!entry.keys || this.#clock.elapsedMs() - entry.loadedAt >= jwksLimits.jwksRefreshMs) {
      await this.#load(uri, entry, entry.etag, owner)
    }
    let jwk = select(entry.keys ?? [], kid)
    if (!jwk && kid !== undefined && this.#clock.elapsedMs() - entry.loadEndedAt >= jwksLimits.jwksReloadMs) {
      await this.#load(uri, entry, undefined, owner)
      jwk = select(entry.keys ?? [], kid)
    }
    if (!jwk) throw new Error(kid === undefined ? 'no kid and not exactly one key' : 'the kid is unknown')
    return importKey(entry, jwk, algorithm)
  }

  /** Like {@link key}, but synchronous. Returns undefined if the key must be loaded or imported first. */
  readyKey(uri: string, kid: string | undefined, algorithm: SignatureAlgorithm): VerificationKey | undefined {
    const known = this.#entries.get(uri)
    if (!known?.keys || this.#clock.elapsedMs() - known.loadedAt >= jwksLimits.jwksRefreshMs) return undefined
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
      loadEndedAt: -Infinity,
      failure: undefined,
      loading: undefined,
      imported: new Map(),
    }
    this.#entries.set(uri, entry, { size: entryOverheadBytes })
    return entry
  }

  /**
   * Loads the key set, or waits for a running load. For half a second after a failure, rejects without sending a
   * request.
   */
  async #load(uri: string, entry: Entry, etag: string | undefined, owner: string): Promise<void> {
    const sinceLoad = this.#clock.elapsedMs() - entry.loadEndedAt
    if (entry.failure && !entry.loading && sinceLoad < jwksLimits.jwksReloadMs) throw entry.failure
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
      entry.loadEndedAt = this.#clock.elapsedMs()
      entry.loading = undefined
    }
  }

  #replace(uri: string, entry: Entry, body: string, etag: string | undefined): void {
    entry.keys = parseKeySet(body)
    entry.etag = etag
    entry.imported.clear()
    if (this.#entries.peek(uri) !== entry) return
    // `set` does not update the size of an existing entry.
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
  if (keys.length > jwksLimits.jwksKeysMax) throw new Error('the key set has too many keys')
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

/** Imports only the public RSA numbers, so the key is usable only to verify signatures. */
async function importKey(entry: Entry, jwk: Jwk, algorithm: SignatureAlgorithm): Promise<VerificationKey> {
  const { kty, n, e, use, alg } = jwk
  if (kty !== 'RSA' || typeof n !== 'string' || typeof e !== 'string') throw new Error('the key is not RSA')
  if (use !== undefined && use !== 'sig') throw new Error('the key is not for signatures')
  if (alg !== undefined && alg !== algorithm) throw new Error('the key is for another algorithm')
  const name = importName(jwk, algorithm)
  let imported = entry.imported.get(name)
  if (!imported) {
    // Loading the package is slow.
    const pending = import('jose')
      .then(({ importJWK }) => importJWK({ kty, n, e }, algorithm))
      .then(withValidExponent)
    imported = { pending, key: undefined }
    entry.imported.set(name, imported)
  }
  imported.key = await imported.pending
  return imported.key
}

/**
 * The exponent must be odd and greater than 1. With the exponent 1, a signature equals the padded digest, so anyone
 * could forge signatures.
 */
function withValidExponent(key: VerificationKey): VerificationKey {
  if (key instanceof Uint8Array) return key
  const { publicExponent } = key.algorithm as typeof key.algorithm & { readonly publicExponent: Uint8Array }
  const digits = Buffer.from(publicExponent).toString('hex').replace(/^0+/, '')
  if (digits === '' || digits === '1' || !/[13579bdf]$/.test(digits))
    throw new Error('the exponent of the key is not a valid RSA exponent')
  return key
}
