// Time that advances only when a test says so, and waiting for work in other parts of the program.

import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../src/base/clock.ts'
import { type Micros, micros } from '../../src/base/micros.ts'
import type { Timers } from '../../src/base/timers.ts'
import { patience } from '../support/patience.ts'

interface Alarm {
  at: number
  readonly every: number | undefined
  readonly callback: () => void
}

/** The start time of every test: 2026-03-04 05:06:07.890 UTC, in milliseconds. */
export const startMs = Date.UTC(2026, 2, 4, 5, 6, 7, 890)

/** A request for an export of the records around {@link startMs}. */
export const wantedExport = {
  timeStart: '2026-03-04T00:00:00Z',
  timeEnd: '2026-03-05T00:00:00Z',
  from: startMs - 1000,
  to: startMs + 1000,
  regionGroup: 'us-std',
  requester: 'account',
}

export class ManualTime implements Clock, Timers {
  #ms = startMs
  readonly #alarms = new Set<Alarm>()

  readonly now = (): Micros => micros(this.#ms * 1000)
  readonly elapsedMs = (): number => this.#ms

  after(ms: number, callback: () => void): () => void {
    return this.#add({ at: this.#ms + ms, every: undefined, callback })
  }

  every(ms: number, callback: () => void): () => void {
    return this.#add({ at: this.#ms + ms, every: ms, callback })
  }

  /** Advances the time by some milliseconds and calls the due timers in order. */
  advance(ms: number): void {
    const end = this.#ms + ms
    for (;;) {
      const due = [...this.#alarms].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (!due) break
      this.#ms = Math.max(this.#ms, due.at)
      if (due.every === undefined) this.#alarms.delete(due)
      else due.at += due.every
      due.callback()
    }
    this.#ms = end
  }

  #add(alarm: Alarm): () => void {
    this.#alarms.add(alarm)
    return () => this.#alarms.delete(alarm)
  }
}

/**
 * Runs the event loop until `condition` holds. Fails when {@link patience} for a minute of real time is over: a slow disk
 * takes any number of turns.
 */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const began = performance.now()
  while (!condition()) {
    assert.ok(performance.now() - began < patience(60_000), `gave up waiting: ${what}`)
    await setImmediate()
  }
}
