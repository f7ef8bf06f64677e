// Times and dates in the language, compared with Temporal within its range.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { micros } from '../../../src/base/micros.ts'
import { parseDate } from '../../../src/values/date.ts'
import { formatTime, maxTime, minTime, parseTime, timeBoundsText } from '../../../src/values/time.ts'
import { LocalDate, Time, TransactionTime, type Value } from '../../../src/values/value.ts'
import { assertError, errorOf, evaluatePure } from '../../support/evaluate-pure.ts'
import { fc } from '../../support/fast-check.ts'

const given = { var: 'given' }

/** Instants within the range of Temporal, with room for changes. */
const instants = fc
  .tuple(fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), fc.integer({ min: 0, max: 999_999_999 }))
  .map(([seconds, nanos]) => new Time(seconds, nanos))

function temporal({ nanos, seconds }: Time): Temporal.Instant {
  return new Temporal.Instant(seconds * 1_000_000_000n + BigInt(nanos))
}

function fromTemporal(instant: Temporal.Instant): Time {
  const time = parseTime(instant.toString())
  assert.ok(time)
  return time
}

const temporalUnits = {
  hours: 'hours',
  minutes: 'minutes',
  seconds: 'seconds',
  milliseconds: 'milliseconds',
  microseconds: 'microseconds',
  nanoseconds: 'nanoseconds',
} as const
const units = fc.constantFrom(...(Object.keys(temporalUnits) as (keyof typeof temporalUnits)[]))
const offsets = fc.integer({ min: -1_000_000_000, max: 1_000_000_000 })

describe('moving', () => {
  test('times move as in Temporal, and time_diff returns the distance', () => {
    fc.assert(
      fc.property(instants, offsets, units, (time, offset, unit) => {
        const moved = evaluatePure({ time_add: given, offset, unit }, { given: time })
        assert.deepEqual(moved, fromTemporal(temporal(time).add({ [unit]: offset })))
        const back = evaluatePure({ time_subtract: given, offset, unit }, { given: moved })
        assert.deepEqual(back, time)
        const pair = [time, moved]
        const query = { time_diff: { select: 0, from: given }, other: { select: 1, from: given }, unit }
        assert.equal(evaluatePure(query, { given: pair }), BigInt(offset))
      }),
    )
  })

  test('differences are truncated toward zero', () => {
    fc.assert(
      fc.property(instants, instants, (from, to) => {
        const query = {
          time_diff: { select: 0, from: given },
          other: { select: 1, from: given },
          unit: 'hours',
        }
        const nanos = temporal(to).epochNanoseconds - temporal(from).epochNanoseconds
        assert.equal(evaluatePure(query, { given: [from, to] }), nanos / 3_600_000_000_000n)
      }),
    )
  })

  test('dates move by days as in Temporal', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), offsets, (day, offset) => {
        const days = offset % 1_000_000
        const moved = evaluatePure(
          { time_add: given, offset: days, unit: 'days' },
          { given: new LocalDate(day) },
        )
        const expected = Temporal.PlainDate.from('1970-01-01').add({ days: day + days })
        assert.deepEqual(moved, parseDate(expected.toString()))
      }),
    )
  })

  test('half days are twelve hours, and blanks around a unit are ignored', () => {
    const noon = { '@ts': '2024-02-28T12:00:00Z' }
    const later = evaluatePure({ time_add: noon, offset: 1, unit: ' half day ' })
    assert.deepEqual(later, parseTime('2024-02-29T00:00:00Z'))
  })

  test('a result out of range is rejected at the offset', () => {
    const rejected = { code: 'invalid argument', description: timeBoundsText, position: ['offset'] }
    const one = { offset: 1, unit: 'nanosecond' }
    assert.deepEqual(errorOf({ time_add: given, ...one }, { given: maxTime }), rejected)
    assert.deepEqual(errorOf({ time_subtract: given, ...one }, { given: minTime }), rejected)
    const least =
      '{"time_subtract": {"@ts": "1970-01-01T00:00:00Z"}, "offset": -9223372036854775808, "unit": "day"}'
    assert.deepEqual(errorOf(least), rejected)
    const date = '{"time_add": {"@date": "1970-01-01"}, "offset": 9223372036854775807, "unit": "days"}'
    assert.deepEqual(errorOf(date), rejected)
  })

  test('units are rejected when their name is unknown or they do not apply', () => {
    const time = { '@ts': '1970-01-01T00:00:00Z' }
    const date = { '@date': '1970-01-01' }
    const unknown = {
      code: 'invalid argument',
      description: 'Time Unit expected, String provided.',
      position: ['unit'],
    }
    for (const unit of ['Days', 'weeks', '']) {
      assert.deepEqual(errorOf({ time_add: time, offset: 1, unit }), unknown)
    }
    const unusable = {
      code: 'invalid argument',
      description: "Invalid time unit 'half days'.",
      position: ['unit'],
    }
    assert.deepEqual(errorOf({ time_subtract: date, offset: 1, unit: 'half days' }), unusable)
    assert.deepEqual(errorOf({ time_diff: date, other: date, unit: 'half days' }), unusable)
    assertError(
      { time_diff: date, other: time, unit: 'days' },
      'invalid argument',
      'Incompatible time arguments.',
      ['time_diff'],
    )
  })

  test('counts beyond 64 bits are rejected', () => {
    const query = {
      time_diff: { select: 0, from: given },
      other: { select: 1, from: given },
      unit: 'nanosecond',
    }
    assertError(query, 'invalid argument', 'The difference does not fit a 64-bit Integer.', [], {
      given: [minTime, maxTime],
    })
    assert.equal(errorOf({ to_micros: given }, { given: maxTime }).code, 'invalid argument')
    assert.equal(errorOf({ to_millis: given }, { given: maxTime }).code, 'invalid argument')
    assert.equal(evaluatePure({ to_seconds: given }, { given: maxTime }), 31_556_889_864_403_199n)
  })
})

describe('making', () => {
  test('now is the time of the query, under any name', () => {
    const now = 1_700_000_000_123_456
    const expected = parseTime('2023-11-14T22:13:20.123456Z')
    assert.deepEqual(evaluatePure({ now: null }, { now: micros(now) }), expected)
    assert.deepEqual(evaluatePure({ time: 'now' }, { now: micros(now) }), expected)
  })

  test('texts may have blanks around them; errors show them', () => {
    assert.deepEqual(evaluatePure({ time: ' 1970-01-01T00:00:00Z\n' }), new Time(0n, 0))
    assert.deepEqual(evaluatePure({ date: ' 1970-01-02 ' }), new LocalDate(1))
    const rejected = { code: 'invalid argument', position: [] }
    assert.deepEqual(errorOf({ time: '1970-01-01T00:00:00' }), {
      ...rejected,
      description: "Cannot cast '1970-01-01T00:00:00' to a time.",
    })
    assert.deepEqual(errorOf({ date: ' 19700101' }), {
      ...rejected,
      description: "Cannot cast ' 19700101' to a date.",
    })
  })

  test('epoch accepts any unit and is limited to the range of times', () => {
    assert.deepEqual(evaluatePure({ epoch: -1, unit: 'half day' }), new Time(-43_200n, 0))
    assert.deepEqual(evaluatePure({ epoch: -1, unit: 'nanosecond' }), new Time(-1n, 999_999_999))
    const late = '{"epoch": 9223372036854775807, "unit": "seconds"}'
    assertError(late, 'invalid argument', timeBoundsText, [])
  })
})

describe('taking apart', () => {
  test('the parts follow the UTC calendar', () => {
    fc.assert(
      fc.property(instants, time => {
        const zoned = temporal(time).toZonedDateTimeISO('UTC')
        const expected = {
          year: zoned.year,
          month: zoned.month,
          day_of_month: zoned.day,
          day_of_year: zoned.dayOfYear,
          day_of_week: zoned.dayOfWeek,
          hour: zoned.hour,
          minute: zoned.minute,
          second: zoned.second,
        }
        for (const [name, value] of Object.entries(expected)) {
          assert.equal(
            evaluatePure({ [name]: given }, { given: time }),
            BigInt(value),
            `${name} of ${formatTime(time)}`,
          )
        }
      }),
    )
  })

  test('counts since 1970 are rounded down, and integers are read as microseconds', () => {
    const early = new Time(-1n, 999_999_999)
    assert.equal(evaluatePure({ to_micros: given }, { given: early }), -1n)
    assert.equal(evaluatePure({ to_millis: given }, { given: early }), -1n)
    assert.equal(evaluatePure({ to_seconds: given }, { given: early }), -1n)
    assert.equal(evaluatePure({ to_seconds: 2_147_483_648_000_001 }), 2_147_483_648n)
    assert.equal(evaluatePure({ second: 2_147_483_648_000_000 }), 8n)
  })

  test('nothing else is accepted as a time', () => {
    const cases: readonly [Value, string][] = [
      [new LocalDate(0), 'Date'],
      ['1970-01-01T00:00:00Z', 'String'],
      [TransactionTime.micros, 'Unresolved Transaction Time'],
    ]
    for (const [value, type] of cases) {
      for (const name of ['to_micros', 'year', 'day_of_week']) {
        const { description } = errorOf({ [name]: given }, { given: value })
        assert.equal(description, `Time expected, ${type} provided.`)
      }
    }
  })
})
