// Creates, parses and verifies secrets. A secret of a key or token is a byte string in URL-safe base64. The bytes
// contain the id of the key or token, so a single read finds the stored hash, and end with 160 random bits. The
// protocol defines the layout and the hashing.

import { hash, timingSafeEqual } from 'node:crypto'
import { FairRunner } from '../../base/admission/fair-queue.ts'
import { GenerationCache } from '../../base/generation-cache.ts'
import type { Memo } from '../../base/pending.ts'
import { decodeBase64, encodeBase64Url } from '../../values/base64.ts'
import { type DatabaseId, rootDatabase } from '../../values/value.ts'
import { type Bcrypt, bcryptAtOnce, isUsableHash, nativeBcrypt, tooManyChecks } from './bcrypt.ts'
import { parseScopedSecret, parseSuffix, type ScopedSecret } from './scope.ts'

const secretLimits = {
  /**
   * Maximum number of checks and hashes of secrets that run at the same time. The other threads of Node's pool remain
   * free for other operations; own limit.
   */
  secretChecksAtOnceMax: 2,
  /** Maximum number of checks and hashes of secrets that wait for their turn; own limit. */
  secretChecksWaitingMax: 10_000,
} as const

const formatVersion = 126
const keyTag = 112
const tokenTag = 113
const keyBytes = 30
const tokenBytes = 38

/** The number of random bytes at the end of every secret. */
export const secretRandomBytes = 20

/** The bcrypt cost of secret hashes. A low cost is sufficient, because 160 random bits cannot be guessed. */
const secretHashCost = 5

/** `random` is the base64url text of the random bytes. The key or token stores its hash as `hashed_secret`. */
type ParsedSecret =
  | { readonly kind: 'key'; readonly id: bigint; readonly random: string }
  | { readonly kind: 'token'; readonly id: bigint; readonly database: bigint; readonly random: string }

/** The secret has 40 characters. */
export function makeKeySecret(id: bigint, random: Uint8Array): string {
  const bytes = secretBytes(keyBytes, keyTag, random)
  new DataView(bytes.buffer).setBigUint64(2, id)
  return encodeBase64Url(bytes)
}

/** The secret has 51 characters, and also contains the database of the token. */
export function makeTokenSecret(id: bigint, database: bigint, random: Uint8Array): string {
  const bytes = secretBytes(tokenBytes, tokenTag, random)
  const view = new DataView(bytes.buffer)
  view.setBigUint64(2, id)
  view.setBigUint64(10, database)
  return encodeBase64Url(bytes)
}

/** Returns undefined for a text that neither {@link makeKeySecret} nor {@link makeTokenSecret} returns. */
export function parseSecret(text: string): ParsedSecret | undefined {
  if (text.length !== 40 && text.length !== 51) return undefined
  const bytes = decode(text)
  if (!bytes || bytes[0] !== formatVersion) return undefined
  const view = new DataView(bytes.buffer)
  const id = view.getBigUint64(2)
  const random = encodeBase64Url(bytes.subarray(bytes.length - secretRandomBytes))
  if (bytes[1] === keyTag && bytes.length === keyBytes) return { kind: 'key', id, random }
  if (bytes[1] !== tokenTag || bytes.length !== tokenBytes) return undefined
  return { kind: 'token', id, database: view.getBigUint64(10), random }
}

/** Sets all bytes except the ids. */
function secretBytes(length: number, tag: number, random: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  bytes[0] = formatVersion
  bytes[1] = tag
  bytes.set(random, length - secretRandomBytes)
  return bytes
}

/** Accepts only the canonical encoding: the unused bits of the last character are zero. */
function decode(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = decodeBase64(text)
  return bytes !== undefined && encodeBase64Url(bytes) === text ? bytes : undefined
}

/** Maximum number of cached pairs of secret and hash. Each entry takes about 200 bytes. */
const verifiedPairsMax = 100_000

/**
 * A bcrypt check takes a millisecond, so verified pairs of secret and hash are cached, as digests. Entries never become
 * stale: every request reads the stored hash, and a changed hash forms a new pair.
 */
export class SecretVerifier {
  readonly #bcrypt: Bcrypt
  readonly #verified = new GenerationCache<string, true>(verifiedPairsMax)
  // Secrets and passwords have separate queues, so many logins do not delay the verification of secrets.
  readonly #queue = new FairRunner(
    bcryptAtOnce(secretLimits.secretChecksAtOnceMax),
    secretLimits.secretChecksWaitingMax,
    tooManyChecks,
  )

  constructor(bcrypt: Bcrypt = nativeBcrypt) {
    this.#bcrypt = bcrypt
  }

  /**
   * Returns whether any text matches `storedHash`. `database` is the database of the key or token. Throws Pending while
   * the check is running.
   */
  verify(memo: Memo, database: DatabaseId, texts: readonly string[], storedHash: string): boolean {
    if (!isUsableHash(storedHash)) return false
    const digest = hash('sha256', [...texts, storedHash].join('\n'), 'base64')
    if (this.#verified.get(digest)) return true
    return memo.get(`secret ${digest}`, async () => {
      const candidates = texts.map(text => ({ bytes: Buffer.from(text), hash: storedHash }))
      const match = await this.#inTurn(memo, database, () => this.#bcrypt.firstMatch(candidates))
      if (match !== undefined) this.#verified.set(digest, true)
      return match !== undefined
    })
  }

  /** `text`: the random text of a new secret. */
  hash(memo: Memo, database: DatabaseId, text: string): Promise<string> {
    return this.#inTurn(memo, database, () => this.#bcrypt.hash(Buffer.from(text), secretHashCost))
  }

  /** Operations are scheduled fairly between databases, and between the requests of a database. */
  #inTurn<T>(memo: Memo, database: DatabaseId, operation: () => Promise<T>): Promise<T> {
    return this.#queue.run([database, memo], operation)
  }
}

/** Grants admin rights in the root database. The operator configures it as plain text or as a bcrypt hash. */
export class RootSecret {
  readonly #verifier: SecretVerifier
  /** The configured text, if it is a bcrypt hash. */
  readonly #storedHash: string | undefined
  readonly #digest: Buffer
  readonly #length: number

  constructor(configured: string, verifier: SecretVerifier) {
    this.#verifier = verifier
    this.#storedHash = isUsableHash(configured) ? configured : undefined
    this.#digest = digest(configured)
    this.#length = configured.length
  }

  /**
   * Splits a credential into the root secret and the suffix after the colon (scope.ts). Returns undefined for another
   * secret. Throws Pending while a check is running.
   */
  match(text: string, memo: Memo): ScopedSecret | undefined {
    if (this.#storedHash !== undefined) {
      const scoped = parseScopedSecret(text)
      return this.#verifier.verify(memo, rootDatabase, [scoped.secret], this.#storedHash) ? scoped : undefined
    }
    // A root secret in plain text may contain colons, so its length splits the text.
    const secret = text.slice(0, this.#length)
    const rest = text.slice(this.#length)
    if (rest !== '' && !rest.startsWith(':')) return undefined
    if (!timingSafeEqual(digest(secret), this.#digest)) return undefined
    return { secret, scope: parseSuffix(rest.slice(1)) }
  }
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
