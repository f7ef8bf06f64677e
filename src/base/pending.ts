// Evaluation is synchronous and replayable. Whatever must wait (a password check, a key fetch, a remote
// read) is thrown as one `Pending`; the transaction runner awaits it, remembers the answer for this
// request and evaluates again from the start.

/** An answer that evaluation has to wait for. `key` names it among the answers of one request. */
export class Pending {
  readonly key: string
  readonly start: () => Promise<unknown>

  constructor(key: string, start: () => Promise<unknown>) {
    this.key = key
    this.start = start
  }
}

/** The answers one request has waited for so far; they survive its replays. */
export class Answers {
  readonly #answers = new Map<string, unknown>()

  /** The remembered answer to `key`, or throws a {@link Pending} that will fetch it with `start`. */
  get<T>(key: string, start: () => Promise<T>): T {
    if (!this.#answers.has(key)) throw new Pending(key, start)
    return this.#answers.get(key) as T
  }

  /** Waits for what `pending` asks for and remembers it. Rejects when the wait fails. */
  async settle(pending: Pending): Promise<void> {
    this.#answers.set(pending.key, await pending.start())
  }
}
