// Formats a part of a date or time in English, for the conversion `%t` of format strings. Times are in UTC.

import { timeOfDate, twoDigits } from '../../values/date.ts'
import { type CalendarParts, calendarParts, millisOfTime } from '../../values/time.ts'
import { LocalDate, type Time } from '../../values/value.ts'

const months = 'January February March April May June July August September October November December'.split(
  ' ',
)
const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

type PartFormat = (parts: CalendarParts, time: Time) => string

const nameOf = (names: readonly string[], number: number) => names[number - 1] as string
const shortName = (names: readonly string[], number: number) => nameOf(names, number).slice(0, 3)

/** The year in its era (AD or BC). Year 0 is the year 1 BC. */
const yearOfEra = (year: number) => (year > 0 ? year : 1 - year)

const year: PartFormat = parts => String(yearOfEra(parts.year)).padStart(4, '0')
const shortYear: PartFormat = parts => twoDigits(yearOfEra(parts.year) % 100)
const hour12 = (parts: CalendarParts) => parts.hour % 12 || 12
const amPm = (parts: CalendarParts) => (parts.hour < 12 ? 'am' : 'pm')
const hoursAndMinutes: PartFormat = parts => `${twoDigits(parts.hour)}:${twoDigits(parts.minute)}`
const clock: PartFormat = (parts, time) => `${hoursAndMinutes(parts, time)}:${twoDigits(parts.second)}`

/** Formats of the parts by the letter after `%t`. */
const dateFormats: Readonly<Record<string, PartFormat>> = {
  B: parts => nameOf(months, parts.month),
  b: parts => shortName(months, parts.month),
  h: parts => shortName(months, parts.month),
  A: parts => nameOf(weekdays, parts.dayOfWeek),
  a: parts => shortName(weekdays, parts.dayOfWeek),
  C: parts => twoDigits(Math.floor(yearOfEra(parts.year) / 100)),
  Y: year,
  y: shortYear,
  j: parts => String(parts.dayOfYear).padStart(3, '0'),
  m: parts => twoDigits(parts.month),
  d: parts => twoDigits(parts.dayOfMonth),
  e: parts => String(parts.dayOfMonth),
  D: (parts, time) => `${twoDigits(parts.month)}/${twoDigits(parts.dayOfMonth)}/${shortYear(parts, time)}`,
  F: (parts, time) => `${year(parts, time)}-${twoDigits(parts.month)}-${twoDigits(parts.dayOfMonth)}`,
}

const timeFormats: Readonly<Record<string, PartFormat>> = {
  ...dateFormats,
  H: parts => twoDigits(parts.hour),
  I: parts => twoDigits(hour12(parts)),
  k: parts => String(parts.hour),
  l: parts => String(hour12(parts)),
  M: parts => twoDigits(parts.minute),
  S: parts => twoDigits(parts.second),
  L: (_parts, time) => String(Math.floor(time.nanos / 1_000_000)).padStart(3, '0'),
  N: (_parts, time) => String(time.nanos).padStart(9, '0'),
  p: amPm,
  z: () => '+0000',
  Z: () => 'Z',
  s: (_parts, time) => String(time.seconds),
  Q: (_parts, time) => String(millisOfTime(time)),
  R: hoursAndMinutes,
  T: clock,
  r: parts =>
    `${twoDigits(hour12(parts))}:${twoDigits(parts.minute)}:${twoDigits(parts.second)} ${amPm(parts).toUpperCase()}`,
  c: (parts, time) =>
    `${shortName(weekdays, parts.dayOfWeek)} ${shortName(months, parts.month)} ${twoDigits(parts.dayOfMonth)} ` +
    `${clock(parts, time)} Z ${year(parts, time)}`,
}

export function isTimeSuffix(suffix: string): boolean {
  return Object.hasOwn(timeFormats, suffix)
}

/** Returns undefined if the value has no part with this letter. */
export function formatTimePart(value: Time | LocalDate, suffix: string): string | undefined {
  const ofDate = value instanceof LocalDate
  const time = ofDate ? timeOfDate(value) : value
  const table = ofDate ? dateFormats : timeFormats
  return Object.hasOwn(table, suffix) ? table[suffix]?.(calendarParts(time), time) : undefined
}
