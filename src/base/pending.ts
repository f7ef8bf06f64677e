// Provides asynchronous results to a synchronous evaluation, which can be replayed. An operation that must wait (a
// password check, a key fetch, a remote read) throws a `Pending`. The engine awaits the result, stores it for the
// request, and evaluates the query again from the start.

import { limits } from './limits.ts'

/** A missing result. `key` identifies the result among the results of one request. */
interface MissingResult {
  readonly key: string
  readonly start: () => Promise<unknown>
  /** Counts against a limit that all workers of a data directory share. */
  readonly isLimited?: boolean
}

/** Thrown when evaluation has to wait for one or several results. */
export class Pending {
  readonly missing: readonly MissingResult[]

  constructor(missing: readonly MissingResult[]) {
    this.missing = missing
  }

  get isLimited(): boolean {
    return this.missing.some(({ isLimited }) => isLimited)
  }

  /** Waits for the results of all `pendings`. */
  static all(pendings: readonly Pending[]): Pending {
    const byKey = new Map<string, MissingResult>()
    for (const { missing } of pendings) {
      for (const result of missing) if (!byKey.has(result.key)) byKey.set(result.key, result)
    }
    return new Pending([...byKey.values()])
  }
}

/**
 * The results that one request has awaited, and the random values that it has drawn; both survive replays. A replay
 * makes the same calls of {@link getEach} in the same order, so the name of the result and the number of the call
 * identify the result.
 */
export class Memo {
  #results: Map<string, unknown> | undefined
  #drawn: unknown[] | undefined
  /** Calls in the current evaluation, by the name of the result. */
  #counts: Map<string, number> | undefined
  #drawCount = 0

  /** Must be called before each evaluation, whether or not it is a replay. */
  begin(): void {
    this.#counts = undefined
    this.#drawCount = 0
  }

  /** Every replay gets the same value. */
  draw<T>(draw: () => T): T {
    const number = this.#drawCount++
    this.#drawn ??= []
    if (number >= this.#drawn.length) this.#drawn[number] = draw()
    // A replay draws the same values in the same order, so the value with this number has the type `T`.
    return this.#drawn[number] as T
  }

  /** Throws a {@link Pending} that fetches a missing result with `start`. */
  get<T>(key: string, start: () => Promise<T>, isLimited = false): T {
    if (this.#results?.has(key) !== true) throw new Pending([{ key, start, isLimited }])
    // All results of a key have the type that its `start` returns.
    return this.#results.get(key) as T
  }

  /** Like {@link get}, but fetches a new result for each call within one evaluation. */
  getEach<T>(name: string, start: () => Promise<T>, isLimited = false): T {
    return this.get(`${name}#${this.#count(name)}`, start, isLimited)
  }

  /**
   * Like {@link getEach}, for results that depend on no input. Each {@link Pending} fetches as many results as the
   * evaluation has already requested, so a request that needs many results in sequence is evaluated only a few times.
   */
  getEachAhead<T>(name: string, start: () => Promise<T>): T {
    const number = this.#count(name)
    const known = this.#results?.get(`${name}#${number}`)
    // The cast is safe for the same reason as in `get`.
    if (known !== undefined) return known as T
    const count = Math.min(Math.max(1, number), limits.awaitedResultsMax)
    const missing = Array.from({ length: count }, (_, at) => ({ key: `${name}#${number + at}`, start }))
    throw new Pending(missing)
  }

  #count(name: string): number {
    this.#counts ??= new Map()
    const number = this.#counts.get(name) ?? 0
    this.#counts.set(name, number + 1)
    return number
  }

  /** Starts all operations concurrently. Rejects if an operation fails. */
  async resolve(pending: Pending): Promise<void> {
    this.#results ??= new Map()
    const results = this.#results
    await Promise.all(
      pending.missing.map(async ({ key, start }) => {
        results.set(key, await start())
      }),
    )
  }
}
