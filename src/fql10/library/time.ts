// Methods of times, and the module Time.

import { msg } from '../../base/message.ts'
import { epochDayOfTime, maxEpochDay, minEpochDay } from '../../values/date.ts'
import {
  addToTime,
  type CalendarParts,
  calendarParts,
  diffTimes,
  microsOfTime,
  millisOfTime,
  parseTime,
  type TimeUnit,
  timeFromEpoch,
  timeFromMicros,
  timeUnit,
} from '../../values/time.ts'
import type { Time } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { doubleOf } from '../numbers.ts'
import { integerOf, type Module, type NumberValue } from '../value.ts'
import { entriesFor, type FieldDefinition, type Members, members } from './entry.ts'
import { number, string, time } from './parameters.ts'
import { toText } from './to-text.ts'

/** Ignores whitespace around the name. If `noun` is `date`, the unit must be valid for dates. Throws `invalid_unit`. */
export function unitNamed(text: string, noun: 'time' | 'date', call: Call): TimeUnit {
  const unit = timeUnit(text.trim())
  if (unit !== undefined && (noun === 'time' || unit.ofDates)) return unit
  throw call.failure('invalid_unit', msg`\`${text}\` is not a valid ${noun} unit.`)
}

/** The direction in which fractions of a nanosecond are rounded. */
type Rounding = 'toward zero' | 'half up'

/**
 * A double stands for its shortest decimal notation, such as 0.1, and not for its exact binary value. Returns undefined
 * for an infinite amount or NaN.
 */
function nanosOf(amount: NumberValue, unit: TimeUnit, rounding: Rounding): bigint | undefined {
  const integer = integerOf(amount)
  if (integer !== undefined) return integer * unit.nanos
  const double = doubleOf(amount)
  return Number.isFinite(double) ? timesDecimal(unit.nanos, double, rounding) : undefined
}

/** Multiplies by the shortest decimal notation of a double, and rounds the product to an integer. */
function timesDecimal(factor: bigint, double: number, rounding: Rounding): bigint {
  const [digits = '', exponentText = '0'] = double.toExponential().split('e')
  const [whole = '', fraction = ''] = digits.split('.')
  const product = factor * BigInt(whole + fraction)
  const exponent = Number(exponentText) - fraction.length
  if (exponent >= 0) return product * 10n ** BigInt(exponent)
  const divisor = 10n ** BigInt(-exponent)
  if (rounding === 'toward zero') return product / divisor
  const doubled = 2n * product + divisor
  const floor = doubled / (2n * divisor)
  return doubled < 0n && floor * 2n * divisor !== doubled ? floor - 1n : floor
}

export function roundHalfUp(double: number): number {
  return Math.floor(double + 0.5)
}

const { field, method } = entriesFor<Time>()
const ofModule = entriesFor<Module>()

const nanosecond = timeUnit('nanosecond') as TimeUnit

function part(name: keyof CalendarParts, summary: string, result: string): FieldDefinition {
  return field(name, {
    type: 'Number',
    summary,
    example: [`Time("2024-02-29T12:30:45Z").${name}`, result],
    read: value => BigInt(calendarParts(value)[name]),
  })
}

/**
 * Throws `invalid_time` if the result is out of range. For an infinite amount or NaN, the error depends only on the
 * method, as in the hosted service.
 */
function moveTime(value: Time, amount: NumberValue, unit: string, direction: 1n | -1n, call: Call): Time {
  const nanos = nanosOf(amount, unitNamed(unit, 'time', call), 'toward zero')
  const sum = nanos === undefined ? undefined : addToTime(value, direction * nanos, nanosecond)
  if (sum !== undefined && isWithinYears(sum)) return sum
  const isTooLate = nanos === undefined ? direction > 0n : direction * nanos > 0n
  throw outOfRange(isTooLate, call)
}

/** True if ISO text can represent the year. Version 4 also allows times up to one year outside of this range. */
function isWithinYears(value: Time): boolean {
  const day = epochDayOfTime(value)
  return day >= minEpochDay && day <= maxEpochDay
}

function outOfRange(isTooLate: boolean, call: Call): unknown {
  return call.failure('invalid_time', msg`Time exceeds the ${isTooLate ? 'maximum' : 'minimum'} value.`)
}

/** An overflow wraps around, as in 64-bit arithmetic. */
function wrapInt64(integer: bigint): bigint {
  return BigInt.asIntN(64, integer)
}

export const timeMembers: Members = members('Time', [
  part('year', 'The year in UTC.', '2024'),
  part('month', 'The month in UTC, from 1 to 12.', '2'),
  part('dayOfMonth', 'The day of the month in UTC, from 1 to 31.', '29'),
  part('dayOfYear', 'The day of the year in UTC, from 1 to 366.', '60'),
  part('dayOfWeek', 'The day of the week in UTC, from 1 (Monday) to 7 (Sunday).', '4'),
  part('hour', 'The hour in UTC, from 0 to 23.', '12'),
  part('minute', 'The minute, from 0 to 59.', '30'),
  part('second', 'The second, from 0 to 59.', '45'),
  method('toSeconds', {
    type: '() => Number',
    summary:
      'Returns the number of seconds since 1970-01-01T00:00:00Z, rounded down. The result is negative for an earlier time.',
    example: ['Time("1970-01-01T00:00:01.5Z").toSeconds()', '1'],
    run: value => value.seconds,
  }),
  method('toMillis', {
    type: '() => Number',
    summary:
      'Returns the number of milliseconds since 1970-01-01T00:00:00Z, rounded down. The result is negative for an earlier time.',
    example: ['Time("1970-01-01T00:00:01.5Z").toMillis()', '1500'],
    run: value => wrapInt64(millisOfTime(value)),
  }),
  method('toMicros', {
    type: '() => Number',
    summary:
      'Returns the number of microseconds since 1970-01-01T00:00:00Z, rounded down. The result is negative for an earlier time.',
    example: ['Time("1970-01-01T00:00:01.5Z").toMicros()', '1500000'],
    run: value => wrapInt64(microsOfTime(value)),
  }),
  method('add', {
    parameters: { amount: number, unit: string },
    type: '(amount: Number, unit: String) => Time',
    summary:
      'Returns the time that is `amount` units after this time. `unit` is a name such as `seconds` or `days`.',
    example: ['Time("2024-01-31T00:00:00Z").add(1, "day")', 'Time("2024-02-01T00:00:00Z")'],
    run: (value, { amount, unit }, call) => moveTime(value, amount, unit, 1n, call),
  }),
  method('subtract', {
    parameters: { amount: number, unit: string },
    type: '(amount: Number, unit: String) => Time',
    summary:
      'Returns the time that is `amount` units before this time. `unit` is a name such as `seconds` or `days`.',
    example: ['Time("2024-01-01T00:00:00Z").subtract(1, "hour")', 'Time("2023-12-31T23:00:00Z")'],
    run: (value, { amount, unit }, call) => moveTime(value, amount, unit, -1n, call),
  }),
  method('difference', {
    parameters: { start: time, unit: string },
    type: '(start: Time, unit: String) => Number',
    summary:
      'Returns the number of whole units from `start` to this time. The result is negative if `start` is later.',
    example: ['Time("2024-01-02T00:00:00Z").difference(Time("2024-01-01T00:00:00Z"), "hours")', '24'],
    run: (value, { start, unit }, call) => wrapInt64(diffTimes(start, value, unitNamed(unit, 'time', call))),
  }),
  toText(
    'Time("2024-01-01T00:00:00Z").toString()',
    '"2024-01-01T00:00:00Z"',
    'Converts the time to an ISO 8601 string in UTC.',
  ),
])

function fromText(name: string, query: string) {
  return ofModule.method(name, {
    parameters: { time: string },
    type: '(time: String) => Time',
    summary: 'Parses a time from an ISO 8601 string with an offset or `Z`.',
    example: [query, 'Time("2024-01-01T00:00:00Z")'],
    run: (_, args, call) => {
      const value = parseTime(args.time)
      if (value !== undefined) return value
      throw call.failure('invalid_time', msg`\`${args.time}\` is not a valid time.`)
    },
  })
}

export const timeModule: Members = members(
  'Time',
  [
    fromText('fromString', 'Time.fromString("2024-01-01T01:00:00+01:00")'),
    ofModule.method('now', {
      effect: 'observation',
      type: '() => Time',
      summary: 'Returns the time of the query. All calls in a query return the same time.',
      example: ['Time.now()', '…'],
      run: (_, __, call) => timeFromMicros(call.evaluation.now),
    }),
    ofModule.method('epoch', {
      parameters: { offset: number, unit: string },
      type: '(offset: Number, unit: String) => Time',
      summary:
        'Returns the time that is `offset` units after 1970-01-01T00:00:00Z. `unit` is a name such as `seconds` or `days`.',
      example: ['Time.epoch(1, "day")', 'Time("1970-01-02T00:00:00Z")'],
      run: (_, { offset, unit }, call) => {
        const nanos = nanosOf(offset, unitNamed(unit, 'time', call), 'half up')
        const value = nanos === undefined ? undefined : timeFromEpoch(nanos, nanosecond)
        if (value !== undefined && isWithinYears(value)) return value
        throw outOfRange(!(doubleOf(offset) < 0), call)
      },
    }),
  ],
  fromText('apply', 'Time("2024-01-01T00:00:00Z")'),
)
