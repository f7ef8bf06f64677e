// Passwords: bcrypt off the event loop, a few at a time. A check costs the same whether or not there is anything
// to check against, and guessing at one identity is slowed down (throttle.ts).
//
// bcrypt sees 72 bytes. A longer password is hashed as the base64 text of its SHA-256, so that all of it counts;
// hashes made elsewhere from its first 72 bytes verify too.

import { createHmac, hash } from 'node:crypto'
import { assert } from '../base/assert.ts'
import { GenerationCache } from '../base/generation-cache.ts'
import type { Answers } from '../base/pending.ts'
import { QueueFull, WorkQueue } from '../base/work-queue.ts'
import { RequestError } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Transaction } from '../store/contract.ts'
import {
  type Bcrypt,
  bcryptAtOnce,
  bcryptBytesMax,
  bcryptCost,
  bcryptCostMax,
  isUsableHash,
  nativeBcrypt,
} from './bcrypt.ts'
import { occurrence } from './occurrence.ts'
import { FailureThrottle, type ThrottleOptions } from './throttle.ts'

export interface PasswordOptions extends ThrottleOptions {
  /** The bcrypt cost of new hashes, 4 to 16. */
  readonly cost: number
  readonly bcrypt?: Bcrypt
}

/** Correct passwords remembered (as keyed digests) so that their owners are not slowed down by guessers. */
const provenMax = 20_000

export class Passwords {
  readonly #cost: number
  readonly #bcrypt: Bcrypt
  readonly #queue: WorkQueue
  readonly #throttle: FailureThrottle
  readonly #proven = new GenerationCache<string, true>(provenMax)
  readonly #provenKey: Uint8Array
  /** Verifies nothing: its digest is made up. Checking against it takes as long as against a real hash. */
  readonly #nobodysHash: string

  constructor(options: PasswordOptions) {
    const { cost, random } = options
    assert(Number.isInteger(cost) && cost >= 4 && cost <= bcryptCostMax, 'the bcrypt cost is from 4 to 16')
    this.#cost = cost
    this.#bcrypt = options.bcrypt ?? nativeBcrypt
    const atOnce = bcryptAtOnce(limits.passwordChecksAtOnceMax)
    this.#queue = new WorkQueue(atOnce, limits.passwordChecksWaitingMax)
    this.#throttle = new FailureThrottle(options)
    this.#provenKey = random.bytes(32)
    this.#nobodysHash = `$2b$${String(cost).padStart(2, '0')}$${random.hex(26)}a`
  }

  /**
   * Whether `password` belongs to `storedHash`, which is undefined for someone unknown or without a password.
   * `identity` names whose password it would be. Throws Pending when that is not known yet.
   */
  check(
    transaction: Transaction,
    answers: Answers,
    identity: string,
    password: string,
    storedHash: string | undefined,
  ): boolean {
    const usable = storedHash !== undefined && isUsableHash(storedHash) ? storedHash : undefined
    const proof = usable === undefined ? undefined : this.#proof(password, usable)
    if (proof !== undefined && this.#proven.get(proof)) return true
    const subject = `password check ${usable ?? 'nobody'} ${digest(password)}`
    return answers.get(occurrence(transaction, subject), async () => {
      const passed = await this.#throttle.run(identity, () =>
        this.#inTurn(() => this.#compare(password, usable)),
      )
      if (passed && proof !== undefined) this.#proven.set(proof, true)
      return passed
    })
  }

  /** The hash to store for a password. Throws Pending when it is not made yet. */
  hash(transaction: Transaction, answers: Answers, password: string): string {
    const subject = `password hash ${digest(password)}`
    return answers.get(occurrence(transaction, subject), () =>
      this.#inTurn(() => this.#bcrypt.hash(bcryptInputs(password)[0], this.#cost)),
    )
  }

  async #compare(password: string, storedHash: string | undefined): Promise<boolean> {
    const inputs = bcryptInputs(password)
    for (const input of inputs) {
      const matches = await this.#bcrypt.compare(input, storedHash ?? this.#nobodysHash)
      if (matches && storedHash !== undefined) return true
    }
    // A cheaper hash from elsewhere would tell by its speed that the user exists.
    if (storedHash !== undefined && (bcryptCost(storedHash) ?? 0) < this.#cost) {
      for (const input of inputs) await this.#bcrypt.compare(input, this.#nobodysHash)
    }
    return false
  }

  #proof(password: string, storedHash: string): string {
    return createHmac('sha256', this.#provenKey).update(storedHash).update(password).digest('base64')
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

/** What bcrypt is given for a password: first what new hashes are made of, then what old ones may be made of. */
function bcryptInputs(password: string): readonly [Uint8Array, ...Uint8Array[]] {
  const bytes = Buffer.from(password)
  if (bytes.length <= bcryptBytesMax) return [bytes]
  return [Buffer.from(digest(password)), bytes]
}

function digest(password: string): string {
  return hash('sha256', password, 'base64')
}
