// Verifies secrets against stored hashes. A check takes a millisecond of bcrypt, so verified pairs of secret and hash
// are cached by a digest that does not reveal the secret. Entries never become stale: a changed hash is a different
// pair, and every request reads the stored hash.

import { hash } from 'node:crypto'
import { FairRunner } from '../../base/admission/fair-queue.ts'
import { GenerationCache } from '../../base/generation-cache.ts'
import { limits } from '../../base/limits.ts'
import type { Memo } from '../../base/pending.ts'
import type { DatabaseId } from '../../values/value.ts'
import { type Bcrypt, bcryptAtOnce, isUsableHash, nativeBcrypt, tooManyChecks } from './bcrypt.ts'
import { secretHashCost } from './secret.ts'

/** Number of cached pairs; about 200 bytes each. */
const verifiedPairsMax = 100_000

export class SecretVerifier {
  readonly #bcrypt: Bcrypt
  readonly #verified = new GenerationCache<string, true>(verifiedPairsMax)
  // Separate from the queue of passwords, so that many logins do not delay the verification of secrets.
  readonly #queue = new FairRunner(
    bcryptAtOnce(limits.secretChecksAtOnceMax),
    limits.secretChecksWaitingMax,
    tooManyChecks,
  )

  constructor(bcrypt: Bcrypt = nativeBcrypt) {
    this.#bcrypt = bcrypt
  }

  /**
   * Returns whether one of the texts hashes to `storedHash`. `database`: the database of the secret. Throws Pending
   * while the check is running.
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

  /** Hashes the random text of a new secret of `database`. */
  hash(memo: Memo, database: DatabaseId, text: string): Promise<string> {
    return this.#inTurn(memo, database, () => this.#bcrypt.hash(Buffer.from(text), secretHashCost))
  }

  /** Databases take turns, and within each database its requests do. */
  #inTurn<T>(memo: Memo, database: DatabaseId, operation: () => Promise<T>): Promise<T> {
    return this.#queue.run([database, memo], operation)
  }
}
