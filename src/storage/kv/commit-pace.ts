// How many of the transactions that wait the next commit takes. If a batch holds those of all clients, evaluation and disk
// wait for each other in turns: the next ones come when these have been answered. Where evaluation takes longer than the
// flush, half of such a batch is taken. That makes two groups, one evaluated while the other is flushed, and once there
// are two, each finds the other waiting.

export class CommitPace {
  #flushMs = Number.POSITIVE_INFINITY
  #overlaps = false

  /** How many of `waiting` transactions go into a commit that begins now; they came within `arrivalMs`. */
  take(waiting: number, arrivalMs: number): number {
    return this.#overlaps || arrivalMs <= this.#flushMs ? waiting : Math.ceil(waiting / 2)
  }

  /** A commit became durable `flushMs` after its transactions had run; `waiting` others had come by then. */
  flushed(flushMs: number, waiting: number): void {
    this.#flushMs = flushMs
    this.#overlaps = waiting > 0
  }
}
