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
