// Checks and hashes passwords with bcrypt outside of the event loop. Operations are scheduled fairly between databases,
// and between the clients of a database. A check takes the same time with and without a stored hash. The file
// throttle.ts slows down guessing.
//
// Passwords have their own threads, because the store needs Node's thread pool, and a check occupies a thread for tens
// of milliseconds. The threads start on demand. Idle threads do not keep the process alive.
//
// bcrypt ignores all bytes of the input after the first 72 bytes. Therefore, the input for a longer password is the
// base64 text of the password's SHA-256 digest. Other programs hash only the first 72 bytes of a password; Terrarium
// accepts their hashes, too.

import { createHmac, hash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { FairRunner } from '../../base/admission/fair-queue.ts'
import { assert } from '../../base/assert.ts'
import { GenerationCache } from '../../base/generation-cache.ts'
import { programFile } from '../../base/program-files.ts'
import type { DatabaseId } from '../../values/value.ts'
import {
  type Bcrypt,
  bcryptBytesMax,
  bcryptCost,
  bcryptCostMax,
  type Candidate,
  isUsableHash,
  tooManyChecks,
} from './bcrypt.ts'
import type { BcryptTask } from './bcrypt-thread.ts'
import { clientKeyOf, FailureThrottle, type PasswordRequest, type ThrottleOptions } from './throttle.ts'

export const passwordLimits = {
  /** Maximum number of waiting operations: password checks and hash computations; own limit. */
  passwordChecksWaitingMax: 4000,
} as const

/** Concurrent checks and hash computations of a process: one per core. */
export const passwordThreads = availableParallelism()

const threadScript = programFile('model/auth/bcrypt-thread.ts')

class BcryptThread {
  readonly #worker = new Worker(threadScript)
  #done:
    | { readonly resolve: (result: unknown) => void; readonly reject: (error: unknown) => void }
    | undefined
  /** False after an error. A thread exits only after an error, but some time later. */
  isAlive = true

  constructor() {
    this.#worker.on('message', (result: unknown) => this.#end()?.resolve(result))
    this.#worker.on('error', error => {
      this.isAlive = false
      this.#end()?.reject(error)
    })
    this.#worker.on('exit', code => {
      this.isAlive = false
      this.#end()?.reject(new Error(`a thread for passwords has exited with code ${code}`))
    })
    this.#worker.unref()
  }

  run(task: BcryptTask): Promise<unknown> {
    this.#worker.ref()
    return new Promise((resolve, reject) => {
      this.#done = { resolve, reject }
      this.#worker.postMessage(task)
    })
  }

  #end() {
    const done = this.#done
    this.#done = undefined
    this.#worker.unref()
    return done
  }
}

const idle: BcryptThread[] = []

/** Uses an idle thread, or a new one. The caller limits the number of concurrent tasks. */
export async function runBcrypt(task: BcryptTask): Promise<unknown> {
  const thread = idle.pop() ?? new BcryptThread()
  try {
    return await thread.run(task)
  } finally {
    if (thread.isAlive) idle.push(thread)
  }
}

const threadedBcrypt: Bcrypt = {
  hash: (bytes, cost) => runBcrypt({ kind: 'hash', bytes, cost }) as Promise<string>,
  firstMatch: candidates => runBcrypt({ kind: 'first match', candidates }) as Promise<number | undefined>,
}

interface PasswordOptions extends ThrottleOptions {
  /** The bcrypt cost of new hashes, 4 to 16. */
  readonly cost: number
  readonly bcrypt?: Bcrypt
}

/**
 * Maximum number of cached correct passwords. The cache contains keyed digests. Checks of cached passwords are not
 * throttled, so guesses by other clients do not delay the user.
 */
const verifiedMax = 20_000

/** Maximum number of databases in `#costs`. */
const costsMax = 10_000

export class Passwords {
  readonly #cost: number
  readonly #bcrypt: Bcrypt
  readonly #queue = new FairRunner(passwordThreads, passwordLimits.passwordChecksWaitingMax, tooManyChecks)
  readonly #throttle: FailureThrottle
  readonly #verified = new GenerationCache<string, true>(verifiedMax)
  readonly #digestKey: Uint8Array
  /** The highest cost of the checked hashes of each database, if it exceeds the configured cost. */
  readonly #costs = new GenerationCache<DatabaseId, number>(costsMax)
  /**
   * The salt and the digest of fake hashes: 53 characters, which no password matches. A check against a fake hash takes
   * as long as against a real hash of the same cost.
   */
  readonly #fakeDigest: string

  constructor(options: PasswordOptions) {
    const { cost, random } = options
    assert(Number.isInteger(cost) && cost >= 4 && cost <= bcryptCostMax, 'the bcrypt cost is from 4 to 16')
    this.#cost = cost
    this.#bcrypt = options.bcrypt ?? threadedBcrypt
    this.#throttle = new FailureThrottle(options)
    this.#digestKey = random.bytes(32)
    this.#fakeDigest = `${random.hex(26)}a`
  }

  /**
   * For an unknown user or a user without a password, `storedHash` is undefined. `user` is the name of the user, to
   * count failed checks. Throws Pending while the check is running.
   */
  check(request: PasswordRequest, user: string, password: string, storedHash: string | undefined): boolean {
    const usable = storedHash !== undefined && isUsableHash(storedHash) ? storedHash : undefined
    const pairDigest = this.#keyedDigest(password, usable ?? this.#fakeHash(this.#cost))
    if (this.#verified.get(pairDigest)) return true
    const memoKey = `password check ${usable ?? 'nobody'} ${digest(password)}`
    const compare = async () => {
      const passed = await this.#throttle.run(`${clientKeyOf(request)} ${user}`, () =>
        this.#inTurn(request, () => this.#compare(password, usable, request.caller.database)),
      )
      if (passed) this.#verified.set(pairDigest, true)
      return passed
    }
    return request.memo.getEach(memoKey, compare, true)
  }

  /** Throws Pending while the hash is being computed. */
  hash(request: PasswordRequest, password: string): string {
    const memoKey = `password hash ${digest(password)}`
    return request.memo.getEach(memoKey, () =>
      this.#inTurn(request, () => this.#bcrypt.hash(bcryptInputs(password)[0], this.#cost)),
    )
  }

  async #compare(password: string, storedHash: string | undefined, database: DatabaseId): Promise<boolean> {
    const inputs = bcryptInputs(password)
    const real = storedHash === undefined ? [] : inputs.map(bytes => ({ bytes, hash: storedHash }))
    const tried = [...real, ...inputs.flatMap(bytes => this.#fakeCandidates(bytes, storedHash, database))]
    const match = await this.#bcrypt.firstMatch(tried)
    return match !== undefined && match < real.length
  }

  /**
   * Returns fake candidates, with which the check of a wrong password takes 2^c rounds for every user of a database.
   * Here, c is the configured cost or the highest cost of a checked hash in the database, whichever is greater. A hash
   * of a lower cost k takes 2^k rounds. Fake hashes of the costs k, k + 1 … c - 1 take the remaining rounds.
   */
  #fakeCandidates(bytes: Uint8Array, storedHash: string | undefined, database: DatabaseId): Candidate[] {
    const known = storedHash === undefined ? undefined : bcryptCost(storedHash)
    const total = Math.max(this.#cost, this.#costs.get(database) ?? 0, known ?? 0)
    if (total > this.#cost) this.#costs.set(database, total)
    if (known === undefined) return [{ bytes, hash: this.#fakeHash(total) }]
    return Array.from({ length: total - known }, (_, at) => ({ bytes, hash: this.#fakeHash(known + at) }))
  }

  #fakeHash(cost: number): string {
    return `$2b$${String(cost).padStart(2, '0')}$${this.#fakeDigest}`
  }

  /** Identifies a pair of password and stored hash in the cache. */
  #keyedDigest(password: string, storedHash: string): string {
    return createHmac('sha256', this.#digestKey).update(storedHash).update(password).digest('base64')
  }

  #inTurn<T>(request: PasswordRequest, operation: () => Promise<T>): Promise<T> {
    return this.#queue.run([request.caller.database, clientKeyOf(request)], operation)
  }
}

/** New hashes use the first input. Other programs use a password of more than 72 bytes itself, the second input. */
function bcryptInputs(password: string): readonly [Uint8Array, ...Uint8Array[]] {
  const bytes = Buffer.from(password)
  if (bytes.length <= bcryptBytesMax) return [bytes]
  return [Buffer.from(digest(password)), bytes]
}

function digest(password: string): string {
  return hash('sha256', password, 'base64')
}
