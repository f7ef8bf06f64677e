// Chooses how many of the waiting transactions the next commit takes. If a batch contains the transactions of all
// clients, evaluation and disk wait for each other in turns: the clients send their next transactions only after they
// have received the results of the batch. Where evaluation takes longer than the flush, the commit takes half of such a
// batch. This creates two groups: one group is evaluated while the other group is flushed, and from then on each
// commit finds the other group waiting.

export class CommitPace {
  #flushMs = Number.POSITIVE_INFINITY
  #overlaps = false

  /** The number of `waiting` transactions for a commit that begins now; they arrived within `arrivalMs`. */
  take(waiting: number, arrivalMs: number): number {
    return this.#overlaps || arrivalMs <= this.#flushMs ? waiting : Math.ceil(waiting / 2)
  }

  /** A commit became durable `flushMs` after its transactions had run; `waiting` others had arrived by then. */
  flushed(flushMs: number, waiting: number): void {
    this.#flushMs = flushMs
    this.#overlaps = waiting > 0
  }
}
