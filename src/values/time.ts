// Times with nanosecond precision in the years -1000000000 to 1000000000, the range of java.time.Instant: clients see
// this range in results and error texts. JavaScript's Temporal supports only the years -271821 to 275760.

import { secondsPerDay } from '../base/micros.ts'
import {
  civilDayOf,
  daysInMonth,
  digitsAt,
  epochDayOf,
  epochDayOfTime,
  formatDay,
  readDay,
  twoDigits,
} from './date.ts'
import { int64Max, type LocalDate, Time } from './value.ts'

const nanosPerSecond = 1_000_000_000n

export const minTime: Time = new Time(-31_557_014_167_219_200n, 0)
export const maxTime: Time = new Time(31_556_889_864_403_199n, 999_999_999)

/** The time whose microseconds since the epoch are the largest signed 64-bit integer. */
export const maxMicrosTime: Time = timeFromMicros(int64Max)

/** Part of errors about times out of range. */
export const timeBoundsText: string = `dates and times must be between ${formatTime(minTime)} and ${formatTime(maxTime)}`

export interface TimeUnit {
  readonly nanos: bigint
  /** True for days, the only unit that can be added to dates. */
  readonly ofDates: boolean
}

const units = new Map<string, TimeUnit>()
for (const [name, nanos] of [
  ['day', BigInt(secondsPerDay) * nanosPerSecond],
  ['half day', 43_200n * nanosPerSecond],
  ['hour', 3_600n * nanosPerSecond],
  ['minute', 60n * nanosPerSecond],
  ['second', nanosPerSecond],
  ['millisecond', 1_000_000n],
  ['microsecond', 1_000n],
  ['nanosecond', 1n],
] as const) {
  const unit = { nanos, ofDates: name === 'day' }
  units.set(name, unit).set(`${name}s`, unit)
}

/** `name` is in lower case, such as `day` or `days`. Returns undefined for other names. */
export function timeUnit(name: string): TimeUnit | undefined {
  return units.get(name)
}

/**
 * Parses ISO text: a date, `T`, hours, minutes, optional seconds with a fraction of up to nine digits, and an offset or
 * `Z`. A day after the end of a month is read as the last day of the month. 24:00 means the next midnight. Blanks are
 * not allowed. Returns undefined when the text is not a time.
 */
export function parseTime(text: string): Time | undefined {
  const date = readDay(text)
  if (!date || (text.charCodeAt(date.end) | 0x20) !== 0x74) return undefined
  const clock = readClock(text, date.end + 1)
  if (!clock) return undefined
  const offset = readOffset(text, clock.end)
  if (offset === undefined) return undefined
  const day = Math.min(date.day, daysInMonth(date.year, date.month))
  const days = epochDayOf(date.year, date.month, day)
  return new Time(BigInt(days) * BigInt(secondsPerDay) + BigInt(clock.secondOfDay - offset), clock.nanos)
}

interface Clock {
  readonly secondOfDay: number
  readonly nanos: number
  readonly end: number
}

function readClock(text: string, start: number): Clock | undefined {
  const hour = digitsAt(text, start, 2)
  const minute = digitsAt(text, start + 3, 2)
  if (hour < 0 || hour > 24 || text[start + 2] !== ':' || minute < 0 || minute > 59) return undefined
  let end = start + 5
  let second = 0
  let nanos = 0
  if (text[end] === ':') {
    second = digitsAt(text, end + 1, 2)
    if (second < 0 || second > 59) return undefined
    end += 3
    if (text[end] === '.') {
      const fractionStart = ++end
      while (end < text.length && end < fractionStart + 9 && digitsAt(text, end, 1) >= 0) end++
      nanos = Number(text.slice(fractionStart, end).padEnd(9, '0'))
    }
  }
  if (hour === 24 && (minute > 0 || second > 0 || nanos > 0)) return undefined
  return { secondOfDay: hour * 3600 + minute * 60 + second, nanos, end }
}

/**
 * Parses `Z`, `±HH:MM`, `±HH:MM:SS` or `±HHMM` (at most 18 hours) from `start` to the end. Returns the seconds east of
 * UTC.
 */
function readOffset(text: string, start: number): number | undefined {
  const sign = text[start]
  const length = text.length - start
  if (sign === 'Z' || sign === 'z') return length === 1 ? 0 : undefined
  if (sign !== '+' && sign !== '-') return undefined
  const colons = text[start + 3] === ':'
  if (colons ? length !== 6 && length !== 9 : length !== 5) return undefined
  const hours = digitsAt(text, start + 1, 2)
  const minutes = digitsAt(text, colons ? start + 4 : start + 3, 2)
  const seconds = length === 9 ? digitsAt(text, start + 7, 2) : 0
  if (hours < 0 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59) return undefined
  if (length === 9 && text[start + 6] !== ':') return undefined
  const total = hours * 3600 + minutes * 60 + seconds
  if (total > 18 * 3600) return undefined
  return sign === '-' ? -total : total
}

/**
 * Returns a time in ISO 8601 and UTC, always with seconds. A fraction that is not zero has 3, 6 or 9 digits. Years
 * outside 0000 to 9999 have a sign.
 */
export function formatTime(time: Time): string {
  const days = epochDayOfTime(time)
  const secondOfDay = Number(time.seconds - BigInt(days) * BigInt(secondsPerDay))
  const hour = Math.floor(secondOfDay / 3600)
  const minute = Math.floor(secondOfDay / 60) % 60
  const clock = `${twoDigits(hour)}:${twoDigits(minute)}:${twoDigits(secondOfDay % 60)}`
  return `${formatDay(days)}T${clock}${formatFraction(time.nanos)}Z`
}

/** Like {@link formatTime}, for microseconds since the epoch. */
export function formatMicros(micros: bigint | number): string {
  return formatTime(timeFromMicros(micros))
}

function formatFraction(nanos: number): string {
  if (nanos === 0) return ''
  const digits = String(nanos).padStart(9, '0')
  if (nanos % 1_000_000 === 0) return `.${digits.slice(0, 3)}`
  return nanos % 1000 === 0 ? `.${digits.slice(0, 6)}` : `.${digits}`
}

/** Nanoseconds since the epoch. */
export function nanosOfTime(time: Time): bigint {
  return time.seconds * nanosPerSecond + BigInt(time.nanos)
}

function timeFromNanos(nanos: bigint): Time {
  const seconds = floorDivide(nanos, nanosPerSecond)
  return new Time(seconds, Number(nanos - seconds * nanosPerSecond))
}

function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor
  return dividend < 0n && quotient * divisor !== dividend ? quotient - 1n : quotient
}

/** `micros` since the epoch: any 64-bit integer as a bigint, or any safe integer as a number. */
export function timeFromMicros(micros: bigint | number): Time {
  return timeFromNanos(BigInt(micros) * 1000n)
}

/** Microseconds since the epoch, rounded down. For times far from the epoch, the result exceeds 64 bits. */
export function microsOfTime(time: Time): bigint {
  return floorDivide(nanosOfTime(time), 1000n)
}

/** Milliseconds since the epoch, rounded down. For times far from the epoch, the result exceeds 64 bits. */
export function millisOfTime(time: Time): bigint {
  return floorDivide(nanosOfTime(time), 1_000_000n)
}

/** Returns undefined if the result is out of range. */
export function timeFromEpoch(amount: bigint, unit: TimeUnit): Time | undefined {
  return boundedTime(amount * unit.nanos)
}

/** Returns undefined if the result is out of range. */
export function addToTime(time: Time, amount: bigint, unit: TimeUnit): Time | undefined {
  return boundedTime(nanosOfTime(time) + amount * unit.nanos)
}

const minNanos = nanosOfTime(minTime)
const maxNanos = nanosOfTime(maxTime)

function boundedTime(nanos: bigint): Time | undefined {
  return nanos < minNanos || nanos > maxNanos ? undefined : timeFromNanos(nanos)
}

/** Whole units, rounded toward zero. The result may exceed 64 bits. */
export function diffTimes(from: Time, to: Time, unit: TimeUnit): bigint {
  return (nanosOfTime(to) - nanosOfTime(from)) / unit.nanos
}

/** Returns the difference in days. */
export function diffDates(from: LocalDate, to: LocalDate): bigint {
  return BigInt(to.epochDay - from.epochDay)
}

/** Parts in UTC; the week begins on Monday, day 1. */
export interface CalendarParts {
  readonly year: number
  readonly month: number
  readonly dayOfMonth: number
  readonly dayOfYear: number
  readonly dayOfWeek: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

export function calendarParts(time: Time): CalendarParts {
  const days = epochDayOfTime(time)
  const { year, month, day } = civilDayOf(days)
  const secondOfDay = Number(time.seconds - BigInt(days) * BigInt(secondsPerDay))
  return {
    year,
    month,
    dayOfMonth: day,
    dayOfYear: days - epochDayOf(year, 1, 1) + 1,
    // 1970-01-01 was a Thursday, day 4.
    dayOfWeek: ((((days + 3) % 7) + 7) % 7) + 1,
    hour: Math.floor(secondOfDay / 3600),
    minute: Math.floor(secondOfDay / 60) % 60,
    second: secondOfDay % 60,
  }
}
