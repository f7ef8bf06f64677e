// Provides asynchronous results to a synchronous evaluation, which can be replayed. An operation that must wait (a
// password check, a key fetch, a remote read) throws a `Pending`. The transaction runner awaits the result, stores it
// for the request, and evaluates the query again from the start.

import { limits } from './limits.ts'

/** A result to wait for. `key` identifies the result among the results of one request. */
interface Question {
  readonly key: string
  readonly start: () => Promise<unknown>
  /** True if the operation counts against a limit that all workers of a data directory share. */
  readonly isLimited?: boolean
}

/** Thrown when evaluation has to wait for results: one result, or the results for several elements of a collection. */
export class Pending {
  readonly questions: readonly Question[]

  constructor(questions: readonly Question[]) {
    this.questions = questions
  }

  /** True if one of the operations counts against a limit that all workers share. */
  get isLimited(): boolean {
    return this.questions.some(({ isLimited }) => isLimited)
  }

  /** The union of the results that all `pendings` wait for, without duplicates. */
  static all(pendings: readonly Pending[]): Pending {
    const byKey = new Map<string, Question>()
    for (const { questions } of pendings) {
      for (const question of questions) if (!byKey.has(question.key)) byKey.set(question.key, question)
    }
    return new Pending([...byKey.values()])
  }
}

/**
 * The results that one request has awaited, and the random values that it has drawn. The results and the random values
 * survive replays. Each call of {@link getEach} fetches a new result. The key of the result consists of the subject and
 * the number of earlier calls for this subject. A replay makes the same calls in the same order, so it finds the same
 * results.
 */
export class Memo {
  // Created on demand, because few requests need them.
  #results: Map<string, unknown> | undefined
  #drawn: unknown[] | undefined
  /** The number of calls of {@link getEach} and {@link getEachAhead} in the current evaluation, for each subject. */
  #counts: Map<string, number> | undefined
  #drawCount = 0

  /** Starts an evaluation, which may be a replay. Resets both counters. */
  begin(): void {
    this.#counts = undefined
    this.#drawCount = 0
  }

  /** Draws the next random value, such as an id. Every replay gets the same value. */
  draw<T>(draw: () => T): T {
    const number = this.#drawCount++
    this.#drawn ??= []
    if (number >= this.#drawn.length) this.#drawn[number] = draw()
    // A replay draws the same values in the same order, so the value with this number has the type `T`.
    return this.#drawn[number] as T
  }

  /**
   * Returns the result for `key`. If there is no result yet, throws a {@link Pending} that fetches the result with
   * `start`.
   */
  get<T>(key: string, start: () => Promise<T>, isLimited = false): T {
    if (this.#results?.has(key) !== true) throw new Pending([{ key, start, isLimited }])
    // All results of a key have the type that its `start` returns.
    return this.#results.get(key) as T
  }

  /**
   * Like {@link get}, but fetches a new result for each call within one evaluation. `isLimited`: the operation counts
   * against a limit that all workers of a data directory share.
   */
  getEach<T>(subject: string, start: () => Promise<T>, isLimited = false): T {
    return this.get(`${subject}#${this.#count(subject)}`, start, isLimited)
  }

  /**
   * Like {@link getEach}, for results that depend on no input and so can be fetched ahead. Each {@link Pending} fetches
   * as many results as the evaluation has already requested. So a request that needs many results in sequence is
   * evaluated only a few times.
   */
  getEachAhead<T>(subject: string, start: () => Promise<T>): T {
    const number = this.#count(subject)
    const known = this.#results?.get(`${subject}#${number}`)
    // The cast is safe for the same reason as in `get`.
    if (known !== undefined) return known as T
    const count = Math.min(Math.max(1, number), limits.awaitedResultsMax)
    const questions = Array.from({ length: count }, (_, at) => ({ key: `${subject}#${number + at}`, start }))
    throw new Pending(questions)
  }

  #count(subject: string): number {
    this.#counts ??= new Map()
    const number = this.#counts.get(subject) ?? 0
    this.#counts.set(subject, number + 1)
    return number
  }

  /** Starts all operations of `pending` concurrently and stores the results. Rejects if an operation fails. */
  async resolve(pending: Pending): Promise<void> {
    this.#results ??= new Map()
    const results = this.#results
    await Promise.all(
      pending.questions.map(async ({ key, start }) => {
        results.set(key, await start())
      }),
    )
  }
}
