// Checks secrets against stored hashes. A check costs a millisecond of bcrypt, so pairs that have passed are
// remembered by a digest: the secrets themselves are not kept. A pair can never go stale: a changed hash is
// another pair, and whether the hash is still the stored one is asked for every request.

import { hash } from 'node:crypto'
import { GenerationCache } from '../base/generation-cache.ts'
import type { Answers } from '../base/pending.ts'
import { QueueFull, WorkQueue } from '../base/work-queue.ts'
import { RequestError } from '../errors.ts'
import { limits } from '../limits.ts'
import { type Bcrypt, bcryptAtOnce, isUsableHash, nativeBcrypt } from './bcrypt.ts'
import { secretHashCost } from './secret.ts'

/** Pairs remembered; about 200 bytes each. */
const verifiedPairsMax = 100_000

export class SecretVerifier {
  readonly #bcrypt: Bcrypt
  readonly #verified = new GenerationCache<string, true>(verifiedPairsMax)
  // Apart from the queue of passwords, so that a flood of logins does not keep new secrets from being checked.
  readonly #queue = new WorkQueue(bcryptAtOnce(limits.secretChecksAtOnceMax), limits.secretChecksWaitingMax)

  constructor(bcrypt: Bcrypt = nativeBcrypt) {
    this.#bcrypt = bcrypt
  }

  /** Whether one of the texts hashes to `storedHash`. Throws Pending when that is not known yet. */
  verify(answers: Answers, texts: readonly string[], storedHash: string): boolean {
    if (!isUsableHash(storedHash)) return false
    const digest = hash('sha256', [...texts, storedHash].join('\n'), 'base64')
    if (this.#verified.get(digest)) return true
    return answers.get(`secret ${digest}`, () => this.#check(texts, storedHash, digest))
  }

  /** The hash to store for a secret, made from its random text. */
  hash(text: string): Promise<string> {
    return this.#inTurn(() => this.#bcrypt.hash(Buffer.from(text), secretHashCost))
  }

  #check(texts: readonly string[], storedHash: string, digest: string): Promise<boolean> {
    return this.#inTurn(async () => {
      for (const text of texts) {
        if (!(await this.#bcrypt.compare(Buffer.from(text), storedHash))) continue
        this.#verified.set(digest, true)
        return true
      }
      return false
    })
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#queue.run(work)
    } catch (error) {
      if (error instanceof QueueFull) throw new RequestError('too many requests', 'Too many pending requests')
      throw error
    }
  }
}
