// Reports the reason why a replica cannot follow its record to the operator: once, again when the reason changes, and
// when the fault is over. Reports are some seconds apart, so that an intermittent fault does not fill the log.

import { StoreUnavailableError, wordsOf } from '../errors.ts'

/** A node's own replica cannot be updated (because its disk is full, for example); the database may be available. */
export class CopyFault extends StoreUnavailableError {
  override name = 'CopyFault'

  constructor(cause: unknown) {
    super(`the replica of the store on this node cannot be updated: ${wordsOf(cause)}`, { cause })
  }
}

/** The reason why a replica cannot follow; `isLocal`: the node's own disk, not the database. */
export interface FollowFault {
  readonly isLocal: boolean
  readonly reason: string
}

/** Minimum milliseconds between two reports. */
const reportEveryMs = 5_000

export class Faults {
  readonly #elapsedMs: () => number
  readonly #onChange: (fault: FollowFault | undefined) => void
  #reported: FollowFault | undefined
  #reportedMs = Number.NEGATIVE_INFINITY
  /** The current fault. */
  current: FollowFault | undefined
  /** When the fault began, on the monotonic clock. */
  sinceMs: number | undefined

  /** `onChange` is called with a fault when it begins or changes, and with undefined when the fault is over. */
  constructor(elapsedMs: () => number, onChange: (fault: FollowFault | undefined) => void) {
    this.#elapsedMs = elapsedMs
    this.#onChange = onChange
  }

  /** Called after each attempt to follow: with its error, or with undefined after success. */
  report(error: unknown): void {
    this.current = error === undefined ? undefined : faultOf(error)
    this.sinceMs = this.current && (this.sinceMs ?? this.#elapsedMs())
    if (this.current?.reason === this.#reported?.reason) return
    const nowMs = this.#elapsedMs()
    if (this.current !== undefined) {
      if (nowMs - this.#reportedMs < reportEveryMs) return
      this.#reportedMs = nowMs
    }
    this.#reported = this.current
    this.#onChange(this.current)
  }
}

function faultOf(error: unknown): FollowFault {
  return { isLocal: error instanceof CopyFault, reason: wordsOf(error) }
}
