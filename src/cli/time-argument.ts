// Times on the command line: ISO 8601, or microseconds as in the `ts` of a version.

import { micros } from '../base/micros.ts'
import { microsOfTime, parseTime } from '../values/time.ts'
import type { Micros } from '../values/value.ts'

/** Requires a text that {@link timeFault} has accepted. */
export function timeOf(text: string): Micros {
  return micros(Number(microsIn(text)))
}

/** Returns undefined for a valid time. */
export function timeFault(text: string): string | undefined {
  const found = microsIn(text)
  if (found !== undefined && found >= 0n && found <= BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  return 'must be a time such as 2026-01-31T12:00:00Z, or microseconds'
}

function microsIn(text: string): bigint | undefined {
  if (/^\d{1,16}$/.test(text)) return BigInt(text)
  const time = parseTime(text)
  return time && microsOfTime(time)
}
