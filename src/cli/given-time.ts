// Times that are given on the command line: ISO 8601, or microseconds as versions of documents have them.

import { micros } from '../base/micros.ts'
import { microsOfTime, parseTime } from '../values/time.ts'
import type { Micros } from '../values/value.ts'

/** The time that a text means. {@link timeFault} has accepted the text. */
export function givenTime(text: string): Micros {
  return micros(Number(microsIn(text)))
}

/** The fault of a text that is not a time; undefined for one that is. */
export function timeFault(text: string): string | undefined {
  const found = microsIn(text)
  if (found !== undefined && found >= 0n && found <= BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  return 'has to be a time such as 2026-01-31T12:00:00Z, or microseconds'
}

function microsIn(text: string): bigint | undefined {
  if (/^\d{1,16}$/.test(text)) return BigInt(text)
  const time = parseTime(text)
  return time && microsOfTime(time)
}
