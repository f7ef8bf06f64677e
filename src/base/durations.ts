// The length of a day in the units that the code uses.

/** Seconds of a day. */
export const secondsPerDay = 86_400
/** Milliseconds of a day. */
export const msPerDay = 86_400_000
/** Microseconds of a day. */
export const microsPerDay = 86_400_000_000
