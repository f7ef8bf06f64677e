// The time by which something is removed for good because of its age. What the clock says is not enough for that: a clock
// that leaps a year forward for an hour would have everything removed that was to be kept for the year. So it is
// remembered, over restarts, how much time has passed, and a clock that disagrees with that is believed only when it has
// said the same for a day of running. Until then time passes here as it passes on the steady clock.

import type { Clock } from './clock.ts'
import { msPerDay } from './durations.ts'
import { type Micros, micros } from './micros.ts'

/** What is remembered of how time passed. */
export interface TimeMemory {
  /** The time of day as it was believed last, moved on by what has passed since. */
  readonly believed: Micros
  /** For how long the clock has disagreed with that while the service ran, in milliseconds; 0: it agrees. */
  readonly doubtedMs: number
}

interface RemovalTimeOptions {
  readonly clock: Clock
  /** What an earlier run has remembered; undefined: nothing, and the clock is believed. */
  readonly load: () => TimeMemory | undefined
  /** Remembers over restarts. */
  readonly save: (memory: TimeMemory) => Promise<unknown>
  /** Told when the clock begins to disagree: by how many microseconds it is ahead. */
  readonly onLeap: (aheadMicros: number) => void
}

/** A clock that disagrees by less is believed: services are stopped for a night. Microseconds. */
const plausibleMicros = msPerDay * 1000
/** How long a clock that disagrees by more has to go on saying so while the service runs. */
const confirmationMs = msPerDay
/** How often what is remembered is saved; less than {@link plausibleMicros} by far. */
const saveEveryMs = 600_000

export class RemovalTime {
  readonly #options: RemovalTimeOptions
  #memory: TimeMemory | undefined
  /** By how much the clock was ahead when it was last read; undefined while it agrees. */
  #ahead: number | undefined
  #readMs = 0
  #savedMs = Number.NEGATIVE_INFINITY
  #isUnsaved = false

  constructor(options: RemovalTimeOptions) {
    this.#options = options
  }

  /** What is older than is allowed at this time may be removed. Never ahead of the clock. */
  now(): Micros {
    const { clock, load, onLeap } = this.#options
    const nowMs = clock.elapsedMs()
    const wall = clock.now()
    const passedMs = this.#memory === undefined ? 0 : nowMs - this.#readMs
    this.#memory ??= load() ?? { believed: wall, doubtedMs: 0 }
    this.#readMs = nowMs
    const believed = micros(this.#memory.believed + Math.round(passedMs * 1000))
    const ahead = wall - believed
    if (Math.abs(ahead) <= plausibleMicros) return this.#believe(wall)
    const isSameLeap = this.#ahead !== undefined && Math.abs(ahead - this.#ahead) <= plausibleMicros
    // An earlier run may have begun to wait; a clock that leaps again while this one runs has to be waited for anew.
    const isGoingOn = isSameLeap || this.#ahead === undefined
    const doubtedMs = isGoingOn ? this.#memory.doubtedMs + passedMs : 0
    if (doubtedMs >= confirmationMs) return this.#believe(wall)
    if (!isSameLeap) {
      this.#isUnsaved = true
      onLeap(ahead)
    }
    this.#ahead = ahead
    this.#memory = { believed, doubtedMs }
    return Math.min(wall, believed)
  }

  /** Remembers what has passed, if it is time to. Rejects when that cannot be saved; the next call is in time again. */
  async keep(): Promise<void> {
    this.now()
    const { clock, save } = this.#options
    const nowMs = clock.elapsedMs()
    if (this.#memory === undefined || (!this.#isUnsaved && nowMs - this.#savedMs < saveEveryMs)) return
    this.#savedMs = nowMs
    this.#isUnsaved = false
    await save(this.#memory)
  }

  #believe(wall: Micros): Micros {
    if (this.#ahead !== undefined) this.#isUnsaved = true
    this.#ahead = undefined
    this.#memory = { believed: wall, doubtedMs: 0 }
    return wall
  }
}

/** What the operator is told of a clock that leaps, where `what` is removed because of its age. */
export function leapWarning(what: string, aheadMicros: number): string {
  const days = (Math.abs(aheadMicros) / 1000 / msPerDay).toFixed(1)
  const way = aheadMicros > 0 ? 'ahead of' : 'behind'
  return `the clock is ${days} days ${way} the time that has passed as far as is known: no ${what} are removed because of that until the clock has said so for 24 hours of running`
}
