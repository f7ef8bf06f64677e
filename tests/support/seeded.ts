// Time and randomness that a failing run replays: a clock that only the test moves, and bytes drawn from a seed.

import type { ProcessEnvironment } from '../../src/app/open-engine.ts'
import type { Clock } from '../../src/base/clock.ts'
import { type Micros, micros } from '../../src/base/micros.ts'
import type { Random } from '../../src/base/random.ts'
import type { Timers } from '../../src/base/timers.ts'
import { RandomSource } from './random-source.ts'
import { suite } from './suite.ts'

export { RandomSource }

/** Stands still until `advance` is called. */
export class ManualClock implements Clock {
  /** 2024-03-01T00:00:00Z in microseconds. */
  #micros = 1_709_251_200_000_000

  now(): Micros {
    return micros(this.#micros)
  }

  elapsedMs(): number {
    return this.#micros / 1000
  }

  advance(micros: number): void {
    this.#micros += micros
  }
}

/** Milliseconds after which a read that waits for a later time retries. */
const retryMsMax = 1

/**
 * The steps of the run perform delayed work, so timers never fire by themselves, with one exception: retries after a
 * millisecond fire in the next turn of the event loop, and advance the clock by that millisecond.
 */
function timersOf(clock: Clock): Timers {
  const never = () => undefined
  return {
    every: () => never,
    after: (ms, go) => {
      if (ms > retryMsMax || !(clock instanceof ManualClock)) return never
      const turn = setImmediate(() => {
        clock.advance(ms * 1000)
        go()
      })
      return () => clearImmediate(turn)
    },
  }
}

function randomFrom(source: RandomSource): Random {
  const bytes = (count: number) => Uint8Array.from({ length: count }, () => source.below(256))
  return {
    bytes,
    hex: count => Buffer.from(bytes(count)).toString('hex'),
    below: limit => source.below(limit),
  }
}

/** Depends only on the seed and on the clock of the test. */
export function seededEnvironment(seed: number, clock: Clock): ProcessEnvironment {
  return { clock, timers: timersOf(clock), random: randomFrom(new RandomSource(seed)) }
}

/** The first seed of a soak test, and its number of seeds for each test. */
const soakSeeds = { first: 1000, count: 200 }

/**
 * The seeds to run. `npm test` runs the first seed of `usual`, `npm run test:faults` runs the other seeds of `usual`,
 * and `npm run test:soak` runs two hundred more seeds. A single file (`npx node --test FILE`) runs all seeds of
 * `usual`. The environment variable `SEED` replays one (`7`) or several (`1000..1999`). A file that calls this function
 * belongs to all suites (scripts/test-plan.ts).
 */
export function seedsToRun(usual: readonly number[]): readonly number[] {
  const { SEED } = process.env
  if (SEED !== undefined) {
    const [from = 0, to = from] = SEED.split('..').map(Number)
    return Array.from({ length: to - from + 1 }, (_, n) => from + n)
  }
  switch (suite) {
    case 'test':
      return usual.slice(0, 1)
    case 'faults':
      return usual.slice(1)
    case 'soak':
      return Array.from({ length: soakSeeds.count }, (_, n) => soakSeeds.first + n)
    case undefined:
      return usual
  }
}

/** A soak test repeats more than `npm run test:faults` by this factor. */
const soakFactor = 100

/**
 * Repetitions of a step that starts or kills processes: `usual`, and `soak` in a soak test, by default a hundred times
 * as many.
 */
export function roundsToRun(usual: number, soak = soakFactor * usual): number {
  return suite === 'soak' ? soak : usual
}
