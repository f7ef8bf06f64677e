// Chooses how many of the waiting transactions the next commit takes. If a batch contains the transactions of all
// clients, evaluation and disk never work at the same time: the clients send their next transactions only after they
// have received the results of the batch. If evaluation takes longer than the flush, the commit takes only half of such
// a batch. This splits the clients into two groups: one group is evaluated while the other group is flushed.

export class CommitPace {
  #flushMs = Number.POSITIVE_INFINITY
  #overlaps = false

  /** The number of `waiting` transactions for a commit that begins now; they arrived within `arrivalMs`. */
  take(waiting: number, arrivalMs: number): number {
    return this.#overlaps || arrivalMs <= this.#flushMs ? waiting : Math.ceil(waiting / 2)
  }

  /**
   * Call it when a commit becomes durable, `flushMs` after its transactions have run. `waiting`: the number of
   * transactions that have arrived in the meantime.
   */
  flushed(flushMs: number, waiting: number): void {
    this.#flushMs = flushMs
    this.#overlaps = waiting > 0
  }
}
