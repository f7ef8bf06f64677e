// Counts the steps of synchronous work: iterations over values, texts or stored rows. Every few thousand steps, the
// counter calls the current {@link Watch}, which may abort the work, for example after a deadline. There is one counter
// per thread, because synchronous work is never interleaved, and passing a counter object to every function would cost
// more than the counting itself.

/** Aborts synchronous work by throwing. */
export interface Watch {
  /** Called about every {@link stepsPerCheck} steps, more often than once per millisecond. */
  check(): void
  /** Called before a native call that takes long and cannot be interrupted; throws to prevent the call. */
  beforeLongCall(): void
}

/** A step takes 10 to 100 nanoseconds. */
export const stepsPerCheck = 4096

/** A native call on this many units (mostly characters) or more may take ten milliseconds. */
export const longCallUnits = 262_144

/** Steps of a pass over a schema definition (reading, checking, comparing or writing), about 100 microseconds. */
export const stepsPerDefinition = stepsPerCheck / 4

/** Units that a native call processes in the time of one step. */
const unitsPerStep = 16

let left = stepsPerCheck
let counted = 0
let watch: Watch | undefined
let interruption: unknown

/** Throws the error of the watch if the watch aborts the work. */
export function step(count = 1): void {
  left -= count
  if (left <= 0) check()
}

function check(): void {
  counted += stepsPerCheck - left
  left = stepsPerCheck
  if (watch) interrupting(() => watch?.check())
}

/** Remembers the error that `call`, a call of the watch, throws. */
function interrupting(call: () => void): void {
  try {
    call()
  } catch (error) {
    interruption = error
    throw error
  }
}

/** Returns whether a watch threw this error. Evaluation must not catch such an error or treat it as a result. */
export function isInterruption(error: unknown): boolean {
  return error === interruption
}

/** Steps since the thread started. */
export function stepsSoFar(): number {
  return counted + stepsPerCheck - left
}

/** Called before a native call that processes `units` units. Throws the error of the watch if it aborts the work. */
export function longCall(units: number): void {
  if (units >= longCallUnits && watch) interrupting(() => watch?.beforeLongCall())
  step(Math.ceil(units / unitsPerStep))
}

/** The current watch stays active. */
export function withAddedWatch<T>(by: Watch, work: () => T): T {
  const outer = watch
  if (outer === undefined) return withWatch(by, work)
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
  return withWatch(both, work)
}

/** Replaces the current watch. */
export function withWatch<T>(by: Watch | undefined, work: () => T): T {
  const outer = watch
  watch = by
  try {
    return work()
  } finally {
    watch = outer
  }
}
