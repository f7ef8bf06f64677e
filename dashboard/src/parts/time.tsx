// Formats times in the time zone that the user has chosen for all pages. A tooltip has the exact instant.

import type { Json } from '../wire/json.ts'
import { storedChoice } from './stored-choice.ts'

const stored = storedChoice('terrarium-zone', ['local', 'UTC'])

/** The browser's time zone, or UTC. The browser stores the choice. */
export const zone = stored.chosen

export const changeZone = stored.next

/** Returns the name of the time zone, such as `UTC` or `Europe/Berlin`. */
export function zoneName(): string {
  return zone.value === 'UTC' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone
}

const minuteMs = 60_000

/** The UTC fields of the result show the local time of `ms` in the chosen time zone. */
function shiftToZone(ms: number): Date {
  const date = new Date(ms)
  return zone.value === 'UTC' ? date : new Date(ms - date.getTimezoneOffset() * minuteMs)
}

/** `ms` since the epoch as `2026-11-21 23:26:43`. With `length` 23, the text contains milliseconds. */
export function localTime(ms: number, length: 19 | 23 = 19): string {
  const date = shiftToZone(ms)
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString().slice(0, length).replace('T', ' ')
}

/** Returns a text such as `2026-11-21 23:26:43.123`. */
export const localTimeMs = (ms: number): string => localTime(ms, 23)

/** Milliseconds since the epoch as the value of a `datetime-local` field. */
export function fieldTime(ms: number, to: 'second' | 'minute' = 'second'): string {
  return shiftToZone(ms)
    .toISOString()
    .slice(0, to === 'second' ? 19 : 16)
}

/**
 * Returns the text at the time axis of a chart: the time of day, or the date at midnight. Seconds are shown if they are
 * not zero.
 */
export function clockText(ms: number): string {
  const text = shiftToZone(ms).toISOString()
  const time = text.slice(11, 19)
  if (time === '00:00:00') return text.slice(5, 10)
  return time.endsWith(':00') ? time.slice(0, 5) : time
}

/** Returns the time in ISO 8601, exact to the microsecond. */
export function exactTime(micros: bigint): string {
  const ms = Number(micros / 1000n)
  const rest = micros % 1000n
  const date = new Date(ms)
  if (Number.isNaN(date.getTime()) || rest < 0n) return String(micros)
  return date.toISOString().replace('Z', `${String(rest).padStart(3, '0')}Z`)
}

/** Returns, in ISO 8601, the value of a `datetime-local` field. Throws an Error outside the years 1970 to 9999. */
export function instantOf(text: string): string {
  const date = new Date(zone.value === 'UTC' ? `${text}Z` : text)
  const year = Number.isNaN(date.getTime()) ? 0 : date.getUTCFullYear()
  if (year < 1970 || year > 9999) throw new Error('Choose a time between the years 1970 and 9999.')
  return date.toISOString()
}

/** A transaction time. */
export function Instant({ micros }: { micros: Json | undefined }) {
  if (typeof micros !== 'bigint') return <span class="absent">–</span>
  const exact = exactTime(micros)
  return (
    <time dateTime={exact} title={exact}>
      {localTime(Number(micros / 1000n))}
    </time>
  )
}
