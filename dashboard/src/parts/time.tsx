// Times as people read them: in the time zone of the browser, with the exact instant on demand.

import type { Json } from '../wire/json.ts'

const two = (number: number) => String(number).padStart(2, '0')

/** Milliseconds since the epoch as `2026-11-21 23:26:43`, local time. */
export function localTime(ms: number): string {
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) return String(ms)
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** Microseconds since the epoch as an exact ISO 8601 instant. */
export function exactTime(micros: bigint): string {
  const ms = Number(micros / 1000n)
  const rest = micros % 1000n
  const date = new Date(ms)
  if (Number.isNaN(date.getTime()) || rest < 0n) return String(micros)
  return date.toISOString().replace('Z', `${String(rest).padStart(3, '0')}Z`)
}

/** The instant (ISO 8601) of a local time as fields for times give it. Throws for what lies outside 1970 to 9999. */
export function instantOf(localText: string): string {
  const date = new Date(localText)
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
