// Functions on times and dates: creation, arithmetic, and calendar parts in UTC.

import { msg, own } from '../../base/message.ts'
import { addDays, parseDate } from '../../values/date.ts'
import {
  addToTime,
  type CalendarParts,
  calendarParts,
  diffDates,
  diffTimes,
  maxMicrosTime,
  microsOfTime,
  millisOfTime,
  parseTime,
  timeBoundsText,
  timeFromEpoch,
  timeFromMicros,
} from '../../values/time.ts'
import { trimBlanks } from '../../values/trim.ts'
import { LocalDate, Time } from '../../values/value.ts'
import {
  time as instant,
  integer,
  type NamedTimeUnit,
  nullArgument,
  string,
  temporal,
  unitOfTime,
} from '../arguments.ts'
import { wrap } from '../arithmetic.ts'
import { type Call, define, family, unary } from '../definition.ts'

/** All calls in a query return the same time. */
function now({ session }: Call): Time {
  // The result of `now` in an index binding must not change, because index entries do not change as time passes.
  // Therefore, `now` always returns the maximum time there.
  if (session.effectPlace === 'index bindings') return maxMicrosTime
  return timeFromMicros(session.transaction.snapshotTime)
}

/** The text `now` means the time of the query. Errors have the position of the call. */
export function timeFromText(text: string, call: Call): Time {
  if (text === 'now') return now(call)
  const time = parseTime(trimBlanks(text))
  if (!time) throw call.invalid(msg`Cannot cast '${text}' to a time.`)
  return time
}

/** Errors have the position of the call. */
export function dateFromText(text: string, call: Call): LocalDate {
  const date = parseDate(trimBlanks(text))
  if (!date) throw call.invalid(msg`Cannot cast '${text}' to a date.`)
  return date
}

function requireDays({ unit, words }: NamedTimeUnit, call: Call): void {
  if (!unit.ofDates) throw call.invalid(msg`Invalid time unit '${words}'.`, 'unit')
}

function move(from: Time | LocalDate, amount: bigint, unit: NamedTimeUnit, call: Call): Time | LocalDate {
  if (from instanceof LocalDate) requireDays(unit, call)
  const moved = from instanceof LocalDate ? addDays(from, amount) : addToTime(from, amount, unit.unit)
  if (!moved) throw call.invalid(own(timeBoundsText), 'offset')
  return moved
}

function moving(name: string, summary: string, exampleResult: string, direction: 1n | -1n) {
  return define({
    arguments: { [name]: temporal, offset: integer, unit: unitOfTime },
    result: 'Time or Date',
    summary,
    example: [`{"${name}": {"@ts": "2024-02-28T12:00:00Z"}, "offset": 2, "unit": "days"}`, exampleResult],
    evaluate(args, call) {
      const from = args[name] as Time | LocalDate
      return move(from, direction * (args.offset as bigint), args.unit as NamedTimeUnit, call)
    },
  })
}

function difference(from: Time | LocalDate, to: Time | LocalDate, named: NamedTimeUnit, call: Call): bigint {
  if (from instanceof LocalDate && to instanceof LocalDate) {
    requireDays(named, call)
    return diffDates(from, to)
  }
  if (!(from instanceof Time && to instanceof Time)) {
    throw call.invalid(msg`Incompatible time arguments.`, 'time_diff')
  }
  const units = diffTimes(from, to, named.unit)
  if (units !== wrap(units)) throw call.invalid(msg`The difference does not fit a 64-bit Integer.`)
  return units
}

function timePart(
  name: string,
  summary: string,
  exampleResult: string,
  part: (time: Time, call: Call) => bigint,
) {
  return unary(name, instant, {
    result: 'Integer',
    summary,
    example: ['{"@ts": "2024-02-28T12:34:56.789Z"}', exampleResult],
    evaluate: part,
  })
}

function calendarPart(name: string, part: keyof CalendarParts, summary: string, exampleResult: string) {
  return timePart(name, summary, exampleResult, instant => BigInt(calendarParts(instant)[part]))
}

/** Throws `invalid argument` if the result of `count` has more than 64 bits. */
function within64Bits(units: string, count: (time: Time) => bigint) {
  return (instant: Time, call: Call): bigint => {
    const counted = count(instant)
    if (counted !== wrap(counted)) throw call.invalid(msg`The ${units} do not fit a 64-bit Integer.`)
    return counted
  }
}

export const time = family('Time', [
  unary('time', string, {
    result: 'Time',
    summary:
      'Parses a time from an ISO 8601 string with an offset or `Z`. The string "now" returns the time of the query.',
    example: ['"2024-02-28T12:00:00+01:00"', '{"@ts": "2024-02-28T11:00:00Z"}'],
    evaluate: timeFromText,
  }),
  define({
    arguments: { now: nullArgument },
    result: 'Time',
    summary: 'Returns the time of the query. All calls in a query return the same time.',
    example: ['{"equals": [{"now": null}, {"time": "now"}]}', 'true'],
    evaluate: (_args, call) => now(call),
  }),
  define({
    arguments: { epoch: integer, unit: unitOfTime },
    result: 'Time',
    summary:
      'Returns the time that is `epoch` units after 1970-01-01T00:00:00Z. `unit` is a name such as `seconds` or `days`.',
    example: ['{"epoch": 90, "unit": "minutes"}', '{"@ts": "1970-01-01T01:30:00Z"}'],
    evaluate({ epoch, unit: { unit } }, call) {
      const time = timeFromEpoch(epoch, unit)
      if (!time) throw call.invalid(own(timeBoundsText))
      return time
    },
  }),
  unary('date', string, {
    result: 'Date',
    summary: 'Parses a date from a string in the form `YYYY-MM-DD`.',
    example: ['"2024-02-28"', '{"@date": "2024-02-28"}'],
    evaluate: dateFromText,
  }),
  moving(
    'time_add',
    'Returns the time or date that is `offset` units after `time_add`. For a date, `unit` must be `day` or `days`.',
    '{"@ts": "2024-03-01T12:00:00Z"}',
    1n,
  ),
  moving(
    'time_subtract',
    'Returns the time or date that is `offset` units before `time_subtract`. For a date, `unit` must be `day` or `days`.',
    '{"@ts": "2024-02-26T12:00:00Z"}',
    -1n,
  ),
  define({
    arguments: { time_diff: temporal, other: temporal, unit: unitOfTime },
    result: 'Integer',
    summary:
      'Returns the number of whole units from `time_diff` to `other`, negative if `other` is earlier. Both must be times, or both dates with the unit `day` or `days`.',
    example: [
      '{"time_diff": {"@date": "2024-02-28"}, "other": {"@date": "2024-03-01"}, "unit": "days"}',
      '2',
    ],
    evaluate: ({ other, time_diff: from, unit }, call) => difference(from, other, unit, call),
  }),
  timePart(
    'to_micros',
    'Returns the number of microseconds from 1970-01-01T00:00:00Z to a time, rounded down. The result is negative for an earlier time.',
    '1709123696789000',
    within64Bits('microseconds', microsOfTime),
  ),
  timePart(
    'to_millis',
    'Returns the number of milliseconds from 1970-01-01T00:00:00Z to a time, rounded down. The result is negative for an earlier time.',
    '1709123696789',
    within64Bits('milliseconds', millisOfTime),
  ),
  timePart(
    'to_seconds',
    'Returns the number of seconds from 1970-01-01T00:00:00Z to a time, rounded down. The result is negative for an earlier time.',
    '1709123696',
    ({ seconds }) => seconds,
  ),
  calendarPart('year', 'year', 'The year of a time in UTC.', '2024'),
  calendarPart('month', 'month', 'The month of a time in UTC, from 1 to 12.', '2'),
  calendarPart('day_of_month', 'dayOfMonth', 'The day of the month of a time in UTC, from 1 to 31.', '28'),
  calendarPart('day_of_year', 'dayOfYear', 'The day of the year of a time in UTC, from 1 to 366.', '59'),
  calendarPart(
    'day_of_week',
    'dayOfWeek',
    'The day of the week of a time in UTC, from 1 (Monday) to 7 (Sunday).',
    '3',
  ),
  calendarPart('hour', 'hour', 'The hour of a time in UTC, from 0 to 23.', '12'),
  calendarPart('minute', 'minute', 'The minute of a time in UTC, from 0 to 59.', '34'),
  calendarPart('second', 'second', 'The second of a time in UTC, from 0 to 59.', '56'),
])
