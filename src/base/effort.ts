// How much work the synchronous stretch under way has done. All that walks over values, texts or stored entries counts
// its steps here; every few thousand of them the watch over the stretch reads the clock, and may end it by
// throwing. There is one counter for the process, because synchronous work is never interleaved: handing a meter
// through every comparison and every byte that is written would cost more than the counting.

/** Watches over a stretch of work. */
export interface Watch {
  /** Called every {@link stepsPerCheck} steps or so, which is well below a millisecond; ends the work by throwing. */
  check(): void
  /** Called before a native call of the runtime that takes long and cannot be interrupted; refuses it by throwing. */
  beforeLongCall(): void
}

/** Steps between two checks; a step takes some 10 to 100 nanoseconds. */
export const stepsPerCheck = 4096

/** Units (mostly characters) from which on a native call is long: it may take some ten milliseconds. */
export const longCallUnits = 262_144

/** Steps of a pass over one definition of a schema: reading, checking, comparing or writing it takes some 100 microseconds. */
export const stepsPerDefinition = stepsPerCheck / 4

/** Units that a native call gets through in the time of a step. */
const unitsPerStep = 16

let left = stepsPerCheck
let counted = 0
let watch: Watch | undefined
/** What a watch has thrown last. */
let interruption: unknown

/** Counts steps. Throws what the watch throws. */
export function step(count = 1): void {
  left -= count
  if (left <= 0) check()
}

function check(): void {
  counted += stepsPerCheck - left
  left = stepsPerCheck
  if (watch) interrupting(() => watch?.check())
}

function interrupting(ask: () => void): void {
  try {
    ask()
  } catch (error) {
    interruption = error
    throw error
  }
}

/** Whether an error is how a watch ended the work: no result of that work, and nothing that it may catch. */
export function isInterruption(error: unknown): boolean {
  return error === interruption
}

/** Steps counted since the process began; differences tell what something took. */
export function stepsSoFar(): number {
  return counted + stepsPerCheck - left
}

/** Counts a native call that is about to go over so many units. Throws what the watch throws. */
export function longCall(units: number): void {
  if (units >= longCallUnits && watch) interrupting(() => watch?.beforeLongCall())
  step(Math.ceil(units / unitsPerStep))
}

/** Runs synchronous work under a watch and under the one that is there, too. */
export function alsoWatched<T>(by: Watch, work: () => T): T {
  const outer = watch
  if (outer === undefined) return watched(by, work)
  const both: Watch = {
    check() {
      by.check()
      outer.check()
    },
    beforeLongCall() {
      by.beforeLongCall()
      outer.beforeLongCall()
    },
  }
  return watched(both, work)
}

/** Runs synchronous work under a watch, in place of the one that is there. */
export function watched<T>(by: Watch | undefined, work: () => T): T {
  const outer = watch
  watch = by
  try {
    return work()
  } finally {
    watch = outer
  }
}
