// Checks secrets against stored hashes. A check costs a millisecond of bcrypt, so pairs that have passed are
// remembered by a digest: the secrets themselves are not kept. A pair can never go stale: a changed hash is
// another pair, and whether the hash is still the stored one is asked for every request.

import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { FairRunner } from '../base/fair-queue.ts'
import type { Memo } from '../base/pending.ts'
import { limits } from '../limits.ts'
import type { DatabaseId } from '../values/value.ts'
import { type Bcrypt, bcryptAtOnce, isUsableHash, nativeBcrypt, tooManyChecks } from './bcrypt.ts'
import { secretHashCost } from './secret.ts'

/** Pairs remembered; about 200 bytes each. */
const verifiedPairsMax = 100_000

export class SecretVerifier {
  readonly #bcrypt: Bcrypt
  readonly #verified = new LRUCache<string, true>({ max: verifiedPairsMax })
  // Apart from the queue of passwords, so that a flood of logins does not keep new secrets from being checked.
  readonly #queue = new FairRunner(
    bcryptAtOnce(limits.secretChecksAtOnceMax),
    limits.secretChecksWaitingMax,
    tooManyChecks,
  )

  constructor(bcrypt: Bcrypt = nativeBcrypt) {
    this.#bcrypt = bcrypt
  }

  /** Whether one of the texts hashes to `storedHash`, of a secret of `database`. Throws Pending when that is not known yet. */
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

  /** The hash to store for a secret of `database`, made from its random text. */
  hash(memo: Memo, database: DatabaseId, text: string): Promise<string> {
    return this.#inTurn(memo, database, () => this.#bcrypt.hash(Buffer.from(text), secretHashCost))
  }

  /** Databases take turns, and in each of them requests do. */
  #inTurn<T>(memo: Memo, database: DatabaseId, operation: () => Promise<T>): Promise<T> {
    return this.#queue.run([database, memo], operation)
  }
}
