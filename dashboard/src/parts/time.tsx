// Times as people read them: in the time zone that was chosen once for all pages, with the exact instant on demand.

import { signal } from '@preact/signals'
import type { Json } from '../wire/json.ts'

const zones = ['local', 'UTC'] as const

/** That of the browser, or UTC. */
type Zone = (typeof zones)[number]

const zoneKey = 'terrarium-zone'

function storedZone(): Zone {
  try {
    const stored = localStorage.getItem(zoneKey)
    return zones.find(name => name === stored) ?? 'local'
  } catch {
    return 'local'
  }
}

/** The time zone of all pages; it is kept in the browser. */
export const zone = signal<Zone>(storedZone())

/** Shows all times in the other time zone. */
export function changeZone(): void {
  zone.value = zone.value === 'UTC' ? 'local' : 'UTC'
  try {
    localStorage.setItem(zoneKey, zone.value)
  } catch {
    // The choice then lasts until the page is closed.
  }
}

/** What the time zone is called: `UTC`, or such as `Europe/Berlin`. */
export function zoneName(): string {
  return zone.value === 'UTC' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone
}

const minuteMs = 60_000

/** A date whose fields in UTC are those of the instant in the time zone. */
function shifted(ms: number): Date {
  const date = new Date(ms)
  return zone.value === 'UTC' ? date : new Date(ms - date.getTimezoneOffset() * minuteMs)
}

/** Milliseconds since the epoch as `2026-11-21 23:26:43`. */
export function localTime(ms: number): string {
  const date = shifted(ms)
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString().slice(0, 19).replace('T', ' ')
}

/** The same with milliseconds. */
export function localTimeMs(ms: number): string {
  const date = shifted(ms)
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString().slice(0, 23).replace('T', ' ')
}

/** The same as fields for times take it: to the second, or to the minute. */
export function fieldTime(ms: number, to: 'second' | 'minute' = 'second'): string {
  return shifted(ms)
    .toISOString()
    .slice(0, to === 'second' ? 19 : 16)
}

/** The time of day on the axis of a chart, with seconds where they are not zero, or the day at midnight. */
export function clockText(ms: number): string {
  const text = shifted(ms).toISOString()
  const time = text.slice(11, 19)
  if (time === '00:00:00') return text.slice(5, 10)
  return time.endsWith(':00') ? time.slice(0, 5) : time
}

/** Microseconds since the epoch as an exact ISO 8601 instant. */
export function exactTime(micros: bigint): string {
  const ms = Number(micros / 1000n)
  const rest = micros % 1000n
  const date = new Date(ms)
  if (Number.isNaN(date.getTime()) || rest < 0n) return String(micros)
  return date.toISOString().replace('Z', `${String(rest).padStart(3, '0')}Z`)
}

/** The instant (ISO 8601) of a time as fields for times give it. Throws for what lies outside 1970 to 9999. */
export function instantOf(text: string): string {
  const date = new Date(zone.value === 'UTC' ? `${text}Z` : text)
  const year = Number.isNaN(date.getTime()) ? 0 : date.getUTCFullYear()
  if (year < 1970 || year > 9999) throw new Error('Choose a time from the year 1970 up to the year 9999.')
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
