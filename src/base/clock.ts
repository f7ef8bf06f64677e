// The only source of the time of day. Everything else is handed a `Clock`, so tests decide what time it is.

export interface Clock {
  /** Microseconds since the Unix epoch; may step back when the machine's clock is set. */
  now(): number
  /** Milliseconds from an arbitrary start, never stepping back; for measuring how long something took. */
  elapsedMs(): number
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Number(Temporal.Now.instant().epochNanoseconds / 1000n),
  elapsedMs: () => performance.now(),
}
