// Determines the removal time: data whose retention has ended at this time is removed permanently. The system clock
// alone is not safe: if it jumped a year ahead for an hour, all data whose retention ends within that year would be
// removed. The expected time is the clock's time when the clock was last trusted, plus the time for which the service
// has run since then. If the clock differs from the expected time by more than a day, the clock is trusted only after
// the service has run for a day with this difference. Until then, the removal time is the earlier of both.

import type { Clock } from './clock.ts'
import { type Micros, micros, msPerDay } from './micros.ts'

export interface TimeMemory {
  /** The expected time when it was last computed. */
  readonly believed: Micros
  /** Running time for which the clock has differed from the expected time; 0 if the clock is trusted. */
  readonly doubtedMs: number
}

interface RemovalTimeOptions {
  readonly clock: Clock
  /** Undefined if there is no earlier run; the clock is then trusted. */
  readonly load: () => TimeMemory | undefined
  readonly save: (memory: TimeMemory) => Promise<unknown>
  /** Called when the clock begins to differ. `aheadMicros` is negative if the clock is behind the expected time. */
  readonly onLeap: (aheadMicros: number) => void
}

/** Longer than a night, because the expected time does not advance while a service is stopped. */
const plausibleMicros = msPerDay * 1000
/** Running time for which a larger difference must persist before the clock is trusted. */
const confirmationMs = msPerDay
/** Far less than {@link plausibleMicros}. */
const saveEveryMs = 600_000

export class RemovalTime {
  readonly #options: RemovalTimeOptions
  #memory: TimeMemory | undefined
  /** Microseconds by which the clock was last ahead of the expected time; undefined while the clock is trusted. */
  #ahead: number | undefined
  #readMs = 0
  #savedMs = Number.NEGATIVE_INFINITY
  #isUnsaved = false

  constructor(options: RemovalTimeOptions) {
    this.#options = options
  }

  /** Never later than the time of the clock. */
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
    // After a restart, the stored `doubtedMs` continues. When the clock jumps again during a run, it restarts at 0.
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

  /** Rejects when saving fails. A call after {@link saveEveryMs} tries again, because the disk may be full for long. */
  async saveTime(): Promise<void> {
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

/** A warning for the operator. `what`: the kind of data that is removed after it expires. */
export function leapWarning(what: string, aheadMicros: number): string {
  const days = (Math.abs(aheadMicros) / 1000 / msPerDay).toFixed(1)
  const way = aheadMicros > 0 ? 'ahead of' : 'behind'
  return `the clock is ${days} days ${way} the elapsed time: expired ${what} are kept until the clock has shown this time for 24 hours of running`
}
