// Evaluation is synchronous and replayable. Whatever must wait (a password check, a key fetch, a remote
// read) is thrown as one `Pending`; the transaction runner awaits it, remembers the result for this
// request and evaluates again from the start.

import { limits } from '../limits.ts'

/** One thing to wait for. `key` names it among the results of one request. */
interface Question {
  readonly key: string
  readonly start: () => Promise<unknown>
}

/** Thrown for results that evaluation has to wait for: one, or those that several elements need. */
export class Pending {
  readonly questions: readonly Question[]

  constructor(questions: readonly Question[]) {
    this.questions = questions
  }

  /** What all of `pendings` wait for, each question once. */
  static all(pendings: readonly Pending[]): Pending {
    const byKey = new Map<string, Question>()
    for (const { questions } of pendings) {
      for (const question of questions) if (!byKey.has(question.key)) byKey.set(question.key, question)
    }
    return new Pending([...byKey.values()])
  }
}

/**
 * What one request has waited for and drawn so far; it survives replays. Of what must not depend on ids (a replay draws
 * none anew, but does the same in the same order) the name is what is asked for and how often it was asked for before.
 */
export class Memo {
  // Made when they are needed, which few requests do.
  #results: Map<string, unknown> | undefined
  #drawn: unknown[] | undefined
  /** How often the evaluation under way has asked for each subject, and drawn. */
  #counts: Map<string, number> | undefined
  #draws = 0

  /** An evaluation begins, the first or a replay: subjects and draws are counted from the start. */
  begin(): void {
    this.#counts = undefined
    this.#draws = 0
  }

  /** The next thing that the evaluation draws, such as an id: the same in every replay, so that what depends on it is too. */
  drawn<T>(draw: () => T): T {
    const number = this.#draws++
    this.#drawn ??= []
    if (number >= this.#drawn.length) this.#drawn[number] = draw()
    // What was drawn under this number was drawn by the same function: evaluations are replayed exactly.
    return this.#drawn[number] as T
  }

  /** What `key` came to, or throws a {@link Pending} that will fetch it with `start`. */
  get<T>(key: string, start: () => Promise<T>): T {
    if (this.#results?.has(key) !== true) throw new Pending([{ key, start }])
    // A key stands for one kind of result: `start` is what gave it.
    return this.#results.get(key) as T
  }

  /** Like {@link get}, for what is fetched anew whenever one evaluation asks for it. */
  getEach<T>(subject: string, start: () => Promise<T>): T {
    return this.get(`${subject}#${this.#count(subject)}`, start)
  }

  /**
   * Like {@link getEach}, for what may be fetched ahead, as it depends on nothing but that it is asked for. A
   * {@link Pending} for it fetches as many as there have been before, so that a request that needs many, one after the
   * other, is not evaluated again for each.
   */
  getEachAhead<T>(subject: string, start: () => Promise<T>): T {
    const number = this.#count(subject)
    const known = this.#results?.get(`${subject}#${number}`)
    // As in `get`.
    if (known !== undefined) return known as T
    const count = Math.min(Math.max(1, number), limits.questionsAtOnceMax)
    const questions = Array.from({ length: count }, (_, at) => ({ key: `${subject}#${number + at}`, start }))
    throw new Pending(questions)
  }

  #count(subject: string): number {
    this.#counts ??= new Map()
    const number = this.#counts.get(subject) ?? 0
    this.#counts.set(subject, number + 1)
    return number
  }

  /** Starts all that `pending` waits for at once and remembers the results. Rejects when one of them fails. */
  async settle(pending: Pending): Promise<void> {
    this.#results ??= new Map()
    const results = this.#results
    await Promise.all(
      pending.questions.map(async ({ key, start }) => {
        results.set(key, await start())
      }),
    )
  }
}
