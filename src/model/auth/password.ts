// Checks and hashes passwords with bcrypt off the event loop. Databases take turns, and the clients of one database
// take turns. A check takes the same time whether or not there is a stored hash to compare with. Guessing is slowed
// down in throttle.ts.
//
// Because bcrypt uses only the first 72 bytes of its input, a longer password is first replaced by the base64 text of
// its SHA-256. Hashes that other programs made from the first 72 bytes of a password verify as well.

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
import { FailureThrottle, guesserOf, type PasswordRequest, type ThrottleOptions } from './throttle.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
export const passwordLimits = {
  /** Waiting password checks and hashes; own limit. */
  passwordChecksWaitingMax: 4000,
} as const

// Threads for passwords, separate from the thread pool that the store needs, because a check occupies a core for tens
// of milliseconds. Threads start on demand, and do not keep the process alive.

/** The number of password checks and hashes that run concurrently in a process: one per core. */
export const passwordThreads = availableParallelism()

const body = programFile('model/auth/bcrypt-thread.ts')

class BcryptThread {
  readonly #worker = new Worker(body)
  #done:
    | { readonly resolve: (result: unknown) => void; readonly reject: (error: unknown) => void }
    | undefined
  /** False after the thread has exited. Threads exit only after an error. */
  alive = true

  constructor() {
    this.#worker.on('message', (result: unknown) => this.#end()?.resolve(result))
    this.#worker.on('error', error => this.#end()?.reject(error))
    this.#worker.on('exit', code => {
      this.alive = false
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

/**
 * Runs a task in an idle thread, or in a new thread if none is idle. The caller limits the number of concurrent tasks.
 */
async function run(task: BcryptTask): Promise<unknown> {
  const thread = idle.pop() ?? new BcryptThread()
  try {
    return await thread.run(task)
  } finally {
    if (thread.alive) idle.push(thread)
  }
}

/** Runs bcrypt in separate threads. */
const threadedBcrypt: Bcrypt = {
  hash: (bytes, cost) => run({ kind: 'hash', bytes, cost }) as Promise<string>,
  firstMatch: candidates => run({ kind: 'first match', candidates }) as Promise<number | undefined>,
}

interface PasswordOptions extends ThrottleOptions {
  /** The bcrypt cost of new hashes, 4 to 16. */
  readonly cost: number
  readonly bcrypt?: Bcrypt
}

/**
 * The number of cached correct passwords, which are stored as keyed digests. A check of a cached password is not
 * throttled, so guessing by others does not delay the owner of the password.
 */
const provenMax = 20_000

/** The number of databases for which the highest cost of a stored hash is cached. */
const costsMax = 10_000

export class Passwords {
  readonly #cost: number
  readonly #bcrypt: Bcrypt
  readonly #queue = new FairRunner(passwordThreads, passwordLimits.passwordChecksWaitingMax, tooManyChecks)
  readonly #throttle: FailureThrottle
  readonly #proven = new GenerationCache<string, true>(provenMax)
  readonly #provenKey: Uint8Array
  /** For each database, the highest cost of the hashes checked there, if that cost is above the configured cost. */
  readonly #costs = new GenerationCache<DatabaseId, number>(costsMax)
  /**
   * The salt and digest of a fake hash that no password matches. A check against the fake hash takes as long as a check
   * against a real hash.
   */
  readonly #fakeDigest: string

  constructor(options: PasswordOptions) {
    const { cost, random } = options
    assert(Number.isInteger(cost) && cost >= 4 && cost <= bcryptCostMax, 'the bcrypt cost is from 4 to 16')
    this.#cost = cost
    this.#bcrypt = options.bcrypt ?? threadedBcrypt
    this.#throttle = new FailureThrottle(options)
    this.#provenKey = random.bytes(32)
    this.#fakeDigest = `${random.hex(26)}a`
  }

  /**
   * Returns whether `password` matches `storedHash`, which is undefined for an unknown user or a user without a
   * password. `identity` is the name of the password's owner. Throws Pending while the check is running.
   */
  check(
    request: PasswordRequest,
    identity: string,
    password: string,
    storedHash: string | undefined,
  ): boolean {
    const usable = storedHash !== undefined && isUsableHash(storedHash) ? storedHash : undefined
    const proof = this.#proof(password, usable ?? this.#fakeHash(this.#cost))
    if (this.#proven.get(proof)) return true
    const subject = `password check ${usable ?? 'nobody'} ${digest(password)}`
    const compare = async () => {
      const passed = await this.#throttle.run(`${guesserOf(request)} ${identity}`, () =>
        this.#inTurn(request, () => this.#compare(password, usable, request.caller.database)),
      )
      if (passed) this.#proven.set(proof, true)
      return passed
    }
    return request.memo.getEach(subject, compare, true)
  }

  /** Returns the hash to store for a password. Throws Pending while the hash is being computed. */
  hash(request: PasswordRequest, password: string): string {
    const subject = `password hash ${digest(password)}`
    return request.memo.getEach(subject, () =>
      this.#inTurn(request, () => this.#bcrypt.hash(bcryptInputs(password)[0], this.#cost)),
    )
  }

  async #compare(password: string, storedHash: string | undefined, database: DatabaseId): Promise<boolean> {
    const inputs = bcryptInputs(password)
    const real = storedHash === undefined ? [] : inputs.map(bytes => ({ bytes, hash: storedHash }))
    const tried = [...real, ...inputs.flatMap(bytes => this.#filling(bytes, storedHash, database))]
    const match = await this.#bcrypt.firstMatch(tried)
    return match !== undefined && match < real.length
  }

  /**
   * Returns additional candidates, so that every wrong password in a database takes 2^c rounds. Here c is the larger of
   * the configured cost and the highest cost seen in a stored hash. A hash of a lower cost k takes 2^k rounds. Fake
   * hashes of the costs k, k + 1 … c - 1 take the remaining rounds.
   */
  #filling(bytes: Uint8Array, storedHash: string | undefined, database: DatabaseId): Candidate[] {
    const known = storedHash === undefined ? undefined : bcryptCost(storedHash)
    const total = Math.max(this.#cost, this.#costs.get(database) ?? 0, known ?? 0)
    if (total > this.#cost) this.#costs.set(database, total)
    if (known === undefined) return [{ bytes, hash: this.#fakeHash(total) }]
    return Array.from({ length: total - known }, (_, at) => ({ bytes, hash: this.#fakeHash(known + at) }))
  }

  #fakeHash(cost: number): string {
    return `$2b$${String(cost).padStart(2, '0')}$${this.#fakeDigest}`
  }

  #proof(password: string, storedHash: string): string {
    return createHmac('sha256', this.#provenKey).update(storedHash).update(password).digest('base64')
  }

  #inTurn<T>(request: PasswordRequest, operation: () => Promise<T>): Promise<T> {
    return this.#queue.run([request.caller.database, guesserOf(request)], operation)
  }
}

/**
 * Returns the bcrypt inputs for a password. The first is the input for new hashes. For a longer password, the second is
 * the input that other programs may have used.
 */
function bcryptInputs(password: string): readonly [Uint8Array, ...Uint8Array[]] {
  const bytes = Buffer.from(password)
  if (bytes.length <= bcryptBytesMax) return [bytes]
  return [Buffer.from(digest(password)), bytes]
}

function digest(password: string): string {
  return hash('sha256', password, 'base64')
}
