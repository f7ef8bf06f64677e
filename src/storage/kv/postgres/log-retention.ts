// Prevents the removal of log rows that a node still needs.

import { keepLog } from './record.ts'
import type { PostgresSession } from './session.ts'

/** Interval in milliseconds at which a node writes to the record which log rows it still needs. */
const renewMs = 5_000

export class LogRetention {
  readonly #node: string
  readonly #elapsedMs: () => number
  #renewedMs = Number.NEGATIVE_INFINITY

  /** `node` identifies this process among those that need the log; `elapsedMs`: a monotonic clock in milliseconds. */
  constructor(node: string, elapsedMs: () => number) {
    this.#node = node
    this.#elapsedMs = elapsedMs
  }

  /** Records that the log is needed from batch `from` on, unless the last renewal was less than {@link renewMs} ago. */
  async renew(session: PostgresSession, from: number): Promise<void> {
    if (this.#elapsedMs() - this.#renewedMs < renewMs) return
    this.#renewedMs = this.#elapsedMs()
    await keepLog(session, this.#node, from)
  }
}
