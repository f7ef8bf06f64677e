// Values in single-line fields. A text needs quotes only if it would be parsed as another type.

import { NotationError, parseValue, printValue } from '../language.ts'
import { at, type Json, textAt, writeJson } from '../wire/json.ts'
import { typeNameOf } from '../wire/type-names.ts'

/** Parses a value. A text that is no value of the language becomes a string. */
export function valueOfText(text: string): Json {
  try {
    return parseValue(text.trim(), 'text')
  } catch (cause) {
    if (cause instanceof NotationError) return text
    throw cause
  }
}

export function textOfValue(value: Json): string {
  if (typeof value !== 'string') return printValue(value, 'text')
  return typeof valueOfText(value) === 'string' ? value : writeJson(value)
}

/** Examples of what to type for a value of each type. */
const forms: Readonly<Record<string, string>> = {
  integer: '12',
  double: '1.5',
  boolean: 'true or false',
  time: '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  uuid: 'UUID("123e4567-e89b-12d3-a456-426614174000")',
  reference: 'Ref(Collection("name"), "1")',
}

/** A typed text has another type than the value that it replaces. */
interface TypeMismatch {
  /** Type of the replaced value. */
  readonly type: string
  /** An example of a text of this type. */
  readonly form: string
}

/**
 * Returns undefined if the types are equal, if both values are numbers, if either value is null, and if `value` is a
 * text. A time or date outside the calendar is always a mismatch.
 */
export function typeMismatch(value: Json, replacement: Json): TypeMismatch | undefined {
  const type = typeNameOf(value)
  const form = forms[type]
  if (form === undefined || replacement === null) return undefined
  const given = typeNameOf(replacement)
  const isSame = given === type || (isNumber(value) && isNumber(replacement))
  return isSame && isValidTime(replacement) ? undefined : { type, form }
}

/** Parses a text that replaces `value`. If `value` is a time or date, the text needs no call such as `Time(…)`. */
export function valueLike(value: Json, text: string): Json {
  const call = { time: 'Time', date: 'Date' }[typeNameOf(value)]
  if (call === undefined) return valueOfText(text)
  const bare = valueOfText(`${call}(${JSON.stringify(text.trim())})`)
  return typeof bare !== 'string' && isValidTime(bare) ? bare : valueOfText(text)
}

const isNumber = (value: Json): boolean => typeof value === 'bigint' || typeof value === 'number'

const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

/** Returns false for times and dates that are not in the calendar, such as the 45th of a month. */
function isValidTime(value: Json): boolean {
  if (at(value, '@date') !== undefined) return isInCalendar(textAt(value, '@date') ?? '')
  if (at(value, '@ts') === undefined) return true
  const time = textAt(value, '@ts') ?? ''
  return timePattern.test(time) && !Number.isNaN(Date.parse(time)) && isInCalendar(time.slice(0, 10))
}

function isInCalendar(date: string): boolean {
  const day = new Date(`${date}T00:00:00Z`)
  // `Date` accepts the 31st of a shorter month, as a day of the next month.
  return (
    /^\d{4}-\d{2}-\d{2}$/.test(date) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date)
  )
}
