// Keeps the record from trimming what a node still needs of the log.

import { keepLog } from './record.ts'
import type { PostgresSession } from './session.ts'

/** How often the record is told what a node needs, in milliseconds. */
const renewMs = 5_000

export class KeptLog {
  readonly #node: string
  readonly #elapsedMs: () => number
  #renewedMs = Number.NEGATIVE_INFINITY

  /** `node` names this process among those that need the log; `elapsedMs`: a steady clock in milliseconds. */
  constructor(node: string, elapsedMs: () => number) {
    this.#node = node
    this.#elapsedMs = elapsedMs
  }

  /** Says that the log is needed from batch `from` on, unless that was said a moment ago. */
  async renew(session: PostgresSession, from: number): Promise<void> {
    if (this.#elapsedMs() - this.#renewedMs < renewMs) return
    this.#renewedMs = this.#elapsedMs()
    await keepLog(session, this.#node, from)
  }
}
