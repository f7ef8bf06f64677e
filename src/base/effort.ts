// Counts the steps of synchronous work. All code that iterates over values, texts or stored entries counts its steps
// here. Every few thousand steps, the counter calls the current {@link Watch}. The watch may abort the work by throwing
// an error, for example after a deadline. There is one counter per process, because synchronous work is never
// interleaved. Passing a counter object to every function would cost more than the counting itself.

/** Watches synchronous work, and aborts the work by throwing. */
export interface Watch {
  /** Called about every {@link stepsPerCheck} steps, more often than once per millisecond. */
  check(): void
  /** Called before a native call that takes long and cannot be interrupted; throws to prevent the call. */
  beforeLongCall(): void
}

/** Steps between two checks; a step takes 10 to 100 nanoseconds. */
export const stepsPerCheck = 4096

/**
 * A native call on at least this number of units (mostly characters) is treated as long. Such a call may take about ten
 * milliseconds.
 */
export const longCallUnits = 262_144

/**
 * The steps that are counted for each pass over a schema definition. Reading, checking, comparing or writing a
 * definition takes about 100 microseconds.
 */
export const stepsPerDefinition = stepsPerCheck / 4

/** Units that a native call processes in the time of one step. */
const unitsPerStep = 16

let left = stepsPerCheck
let counted = 0
let watch: Watch | undefined
/** The last error that a watch threw. */
let interruption: unknown

/** Counts steps. Throws the error of the watch if the watch aborts the work. */
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

/**
 * Returns whether a watch aborted the work with this error. Evaluation must not catch such an error or treat it as a
 * result.
 */
export function isInterruption(error: unknown): boolean {
  return error === interruption
}

/**
 * The number of steps since the process started. The difference between two results is the number of steps between the
 * two calls.
 */
export function stepsSoFar(): number {
  return counted + stepsPerCheck - left
}

/**
 * Counts the steps of a native call that processes `units` units. Must be called before the native call. Throws the
 * error of the watch if the watch aborts the work.
 */
export function longCall(units: number): void {
  if (units >= longCallUnits && watch) interrupting(() => watch?.beforeLongCall())
  step(Math.ceil(units / unitsPerStep))
}

/** Runs synchronous work under a watch in addition to the current watch. */
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

/** Runs synchronous work under a watch in place of the current watch. */
export function watched<T>(by: Watch | undefined, work: () => T): T {
  const outer = watch
  watch = by
  try {
    return work()
  } finally {
    watch = outer
  }
}
