// Dates of the proleptic Gregorian calendar in the years -999999999 to 999999999, far beyond the range of Date and
// Temporal. Day numbers are safe integers, so plain numbers are exact.

import { secondsPerDay } from '../base/micros.ts'
import { LocalDate, Time } from './value.ts'

/** Months and days count from 1. */
interface CivilDay {
  readonly year: number
  readonly month: number
  readonly day: number
}

export const minEpochDay = -365_243_219_162
export const maxEpochDay = 365_241_780_471

const daysPerEra = 146_097

/** Days from 0000-03-01 (the start of a 400-year era) to 1970-01-01. */
const daysToEpoch = 719_468

/**
 * Days since 1970-01-01. A `day` outside the month is valid: day 0 is the last day of the previous month. This function
 * and `civilDayOf` are Howard Hinnant's algorithms, whose years begin in March, so that the leap day is the last day.
 */
export function epochDayOf(year: number, month: number, day: number): number {
  const shiftedYear = month <= 2 ? year - 1 : year
  const era = Math.floor(shiftedYear / 400)
  const yearOfEra = shiftedYear - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * daysPerEra + dayOfEra - daysToEpoch
}

/** `epochDay`: days since 1970-01-01. */
export function civilDayOf(epochDay: number): CivilDay {
  const days = epochDay + daysToEpoch
  const era = Math.floor(days / daysPerEra)
  const dayOfEra = days - era * daysPerEra
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day }
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** The value of the `count` ASCII digits at `from`; -1 if one of them is not a digit. */
export function digitsAt(text: string, from: number, count: number): number {
  if (from + count > text.length) return -1
  let value = 0
  for (let at = from; at < from + count; at++) {
    const digit = text.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}

/**
 * Reads `YYYY-MM-DD` at the start of a text; undefined for another text. The year has four digits, or a sign and four
 * to nine digits. Days 1 to 31 are accepted in every month. `end`: the offset after the day.
 */
export function readDay(text: string): (CivilDay & { readonly end: number }) | undefined {
  const sign = text[0]
  const signed = sign === '-' || sign === '+'
  const yearStart = signed ? 1 : 0
  const yearEnd = text.indexOf('-', yearStart)
  const yearDigits = yearEnd - yearStart
  if (signed ? yearDigits < 4 || yearDigits > 9 : yearDigits !== 4) return undefined
  const year = digitsAt(text, yearStart, yearDigits)
  if (year < 0 || (year === 0 && sign === '-')) return undefined
  const month = digitsAt(text, yearEnd + 1, 2)
  const day = digitsAt(text, yearEnd + 4, 2)
  if (text[yearEnd + 3] !== '-' || month < 1 || month > 12 || day < 1 || day > 31) return undefined
  return { year: sign === '-' ? -year : year, month, day, end: yearEnd + 6 }
}

/** Parses `YYYY-MM-DD` without blanks. Returns undefined for other texts, and for a day that does not exist. */
export function parseDate(text: string): LocalDate | undefined {
  const read = readDay(text)
  if (!read || read.end !== text.length || read.day > daysInMonth(read.year, read.month)) return undefined
  return new LocalDate(epochDayOf(read.year, read.month, read.day))
}

/** Returns a date in ISO 8601. Years outside 0000 to 9999 have a sign. */
export function formatDate(date: LocalDate): string {
  return formatDay(date.epochDay)
}

/** Like {@link formatDate}; `epochDay`: days since 1970-01-01. */
export function formatDay(epochDay: number): string {
  const { year, month, day } = civilDayOf(epochDay)
  return `${formatYear(year)}-${twoDigits(month)}-${twoDigits(day)}`
}

function formatYear(year: number): string {
  const digits = String(Math.abs(year)).padStart(4, '0')
  if (year < 0) return `-${digits}`
  return year > 9999 ? `+${digits}` : digits
}

/** `number` is below 100. */
export function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : String(number)
}

/** Returns undefined if the result is out of range. */
export function addDays(date: LocalDate, days: bigint): LocalDate | undefined {
  const sum = BigInt(date.epochDay) + days
  return sum < minEpochDay || sum > maxEpochDay ? undefined : new LocalDate(Number(sum))
}

/** Returns the date in UTC. Undefined in the first and the last year of `Time`, which dates do not include. */
export function dateOfTime(time: Time): LocalDate | undefined {
  const epochDay = epochDayOfTime(time)
  return epochDay < minEpochDay || epochDay > maxEpochDay ? undefined : new LocalDate(epochDay)
}

/** Days since 1970-01-01, in UTC. */
export function epochDayOfTime(time: Time): number {
  const days = Number(time.seconds / BigInt(secondsPerDay))
  return time.seconds < BigInt(days) * BigInt(secondsPerDay) ? days - 1 : days
}

/** Returns the time of midnight in UTC. */
export function timeOfDate(date: LocalDate): Time {
  return new Time(BigInt(date.epochDay) * BigInt(secondsPerDay), 0)
}
