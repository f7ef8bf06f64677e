// Evaluation is synchronous and replayable. Whatever must wait (a password check, a key fetch, a remote
// read) is thrown as one `Pending`; the transaction runner awaits it, remembers the answer for this
// request and evaluates again from the start.

import { limits } from '../limits.ts'

/** One thing to wait for. `key` names it among the answers of one request. */
export interface Question {
  readonly key: string
  readonly start: () => Promise<unknown>
}

/** Thrown for answers that evaluation has to wait for: one, or those that several elements need. */
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

/** The answers one request has waited for so far; they survive its replays. */
export class Answers {
  readonly #answers = new Map<string, unknown>()
  readonly #drawn: unknown[] = []

  /**
   * The `number`-th thing of its kind that this request draws, such as an id: drawn the first time, the same in
   * every replay, so that what depends on it is the same too.
   */
  drawn<T>(number: number, draw: () => T): T {
    if (number >= this.#drawn.length) this.#drawn[number] = draw()
    return this.#drawn[number] as T
  }

  /** The remembered answer to `key`, or throws a {@link Pending} that will fetch it with `start`. */
  get<T>(key: string, start: () => Promise<T>): T {
    if (!this.#answers.has(key)) throw new Pending([{ key, start }])
    return this.#answers.get(key) as T
  }

  /**
   * The `number`-th answer of a kind whose answers may be fetched ahead, as they depend on nothing but that they are
   * asked for. A {@link Pending} for it fetches as many as there have been before, so that a request that needs many,
   * one after the other, is not evaluated again for each.
   */
  nth<T>(kind: string, number: number, start: () => Promise<T>): T {
    const known = this.#answers.get(`${kind}#${number}`)
    if (known !== undefined) return known as T
    const count = Math.min(Math.max(1, number), limits.questionsAtOnceMax)
    const questions = Array.from({ length: count }, (_, at) => ({ key: `${kind}#${number + at}`, start }))
    throw new Pending(questions)
  }

  /** Asks all that `pending` asks for at once and remembers the answers. Rejects when one of them fails. */
  async settle(pending: Pending): Promise<void> {
    await Promise.all(
      pending.questions.map(async ({ key, start }) => {
        this.#answers.set(key, await start())
      }),
    )
  }
}
