// Methods of dates, and the module Date.

import { msg } from '../../base/message.ts'
import { addDays, dateOfTime, parseDate, timeOfDate } from '../../values/date.ts'
import { type CalendarParts, calendarParts, timeFromMicros } from '../../values/time.ts'
import type { LocalDate } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { doubleOf } from '../numbers.ts'
import { asLong, integerOf, type Module, type NumberValue } from '../value.ts'
import { entriesFor, type FieldDefinition, type Members, members } from './entry.ts'
import { date, number, string } from './parameters.ts'
import { roundHalfUp, unitNamed } from './time.ts'
import { toText } from './to-text.ts'

const { field, method } = entriesFor<LocalDate>()
const ofModule = entriesFor<Module>()

function part(name: keyof CalendarParts, summary: string, result: string): FieldDefinition {
  return field(name, {
    type: 'Number',
    summary,
    example: [`Date("2024-02-29").${name}`, result],
    read: value => BigInt(calendarParts(timeOfDate(value))[name]),
  })
}

/** Rounds a double to the nearest integer, and a half up. Returns undefined for an infinite amount or NaN. */
function daysOf(amount: NumberValue): bigint | undefined {
  const integer = integerOf(amount)
  if (integer !== undefined) return integer
  const days = roundHalfUp(doubleOf(amount))
  return Number.isFinite(days) ? BigInt(days) : undefined
}

/** Throws `invalid_unit` if the unit is not days, and `invalid_date` if the result is out of range. */
function moveDate(
  value: LocalDate,
  amount: NumberValue,
  unit: string,
  direction: 1n | -1n,
  call: Call,
): LocalDate {
  unitNamed(unit, 'date', call)
  const days = daysOf(amount)
  const sum = days === undefined ? undefined : addDays(value, direction * days)
  if (sum !== undefined) return sum
  const isNegative = doubleOf(amount) < 0
  const isTooLate = direction > 0n ? !isNegative : isNegative
  throw call.failure('invalid_date', msg`Date exceeds the ${isTooLate ? 'maximum' : 'minimum'} value.`)
}

export const dateMembers: Members = members('Date', [
  part('year', 'The year.', '2024'),
  part('month', 'The month, from 1 to 12.', '2'),
  part('dayOfMonth', 'The day of the month, from 1 to 31.', '29'),
  part('dayOfYear', 'The day of the year, from 1 to 366.', '60'),
  part('dayOfWeek', 'The day of the week, from 1 (Monday) to 7 (Sunday).', '4'),
  method('add', {
    parameters: { amount: number, unit: string },
    type: '(amount: Number, unit: String) => Date',
    summary:
      'Returns the date that is `amount` days after this date. `unit` must be `day` or `days`; a fraction of a day is rounded.',
    example: ['Date("2024-02-28").add(2, "days")', 'Date("2024-03-01")'],
    run: (value, { amount, unit }, call) => moveDate(value, amount, unit, 1n, call),
  }),
  method('subtract', {
    parameters: { amount: number, unit: string },
    type: '(amount: Number, unit: String) => Date',
    summary:
      'Returns the date that is `amount` days before this date. `unit` must be `day` or `days`; a fraction of a day is rounded.',
    example: ['Date("2024-03-01").subtract(1, "day")', 'Date("2024-02-29")'],
    run: (value, { amount, unit }, call) => moveDate(value, amount, unit, -1n, call),
  }),
  method('difference', {
    parameters: { start: date },
    type: '(start: Date) => Number',
    summary:
      'Returns the number of days from `start` to this date. The result is negative if `start` is later.',
    example: ['Date("2024-03-01").difference(Date("2024-02-28"))', '2'],
    run: (value, { start }) => asLong(BigInt(value.epochDay - start.epochDay)),
  }),
  toText(
    'Date("2024-03-01").toString()',
    '"2024-03-01"',
    'Converts the date to a string in the form `YYYY-MM-DD`.',
  ),
])

function fromText(name: string, query: string) {
  return ofModule.method(name, {
    parameters: { date: string },
    type: '(date: String) => Date',
    summary: 'Parses a date from a string in the form `YYYY-MM-DD`.',
    example: [query, 'Date("2024-03-01")'],
    run: (_, args, call) => {
      const value = parseDate(args.date)
      if (value !== undefined) return value
      throw call.failure('invalid_date', msg`\`${args.date}\` is not a valid date.`)
    },
  })
}

export const dateModule: Members = members(
  'Date',
  [
    fromText('fromString', 'Date.fromString("2024-03-01")'),
    ofModule.method('today', {
      type: '() => Date',
      summary: 'Returns the date of the query in UTC.',
      example: ['Date.today()', '…'],
      run: (_, __, call) => dateOfTime(timeFromMicros(call.evaluation.now)) as LocalDate,
    }),
  ],
  fromText('apply', 'Date("2024-03-01")'),
)
