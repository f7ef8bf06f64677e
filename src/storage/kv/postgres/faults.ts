// What keeps a copy from following its record, for the operator: reported once, again when the reason changes, and when it is
// over; some seconds apart, so that what comes and goes does not fill the log.

import { StoreUnavailableError, wordsOf } from '../errors.ts'

/** A node's own copy cannot be brought forward (its disk is full, say); the database may be sound. */
export class CopyFault extends StoreUnavailableError {
  override name = 'CopyFault'

  constructor(cause: unknown) {
    super(`the copy of the store on this node cannot be brought forward: ${wordsOf(cause)}`, { cause })
  }
}

/** What keeps a copy from following; `isLocal`: the node's own disk, not the database. */
export interface FollowFault {
  readonly isLocal: boolean
  readonly reason: string
}

/** Milliseconds between two faults that are reported. */
const reportEveryMs = 5_000

export class Faults {
  readonly #elapsedMs: () => number
  readonly #onChange: (fault: FollowFault | undefined) => void
  #reported: FollowFault | undefined
  #reportedMs = Number.NEGATIVE_INFINITY
  /** The fault that there is now. */
  current: FollowFault | undefined
  /** Since when there is one, on the steady clock. */
  sinceMs: number | undefined

  /** `onChange` hears of a fault, and undefined when it is over. */
  constructor(elapsedMs: () => number, onChange: (fault: FollowFault | undefined) => void) {
    this.#elapsedMs = elapsedMs
    this.#onChange = onChange
  }

  /** An attempt to follow has failed; `error` undefined: it has succeeded. Called again and again. */
  note(error: unknown): void {
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
