// Times and dates: the syntax and the output of the facts, and agreement with Temporal in its range.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  addDays,
  civilDayOf,
  dateOfTime,
  epochDayOf,
  formatDate,
  maxEpochDay,
  minEpochDay,
  parseDate,
  timeOfDate,
} from '../../../src/values/date.ts'
import {
  addToTime,
  calendarParts,
  diffDates,
  diffTimes,
  formatTime,
  maxMicrosTime,
  maxTime,
  microsOfTime,
  millisOfTime,
  minTime,
  nanosOfTime,
  parseTime,
  type TimeUnit,
  timeBoundsText,
  timeFromEpoch,
  timeFromMicros,
  timeUnit,
} from '../../../src/values/time.ts'
import { LocalDate, Time } from '../../../src/values/value.ts'
import { fc } from '../../support/fast-check.ts'

function reformat(text: string): string | undefined {
  const time = parseTime(text)
  return time && formatTime(time)
}

function unit(name: string): TimeUnit {
  const found = timeUnit(name)
  assert.ok(found)
  return found
}

/** Days of every year of the supported range, with unusual years more often. */
const anyEpochDay = fc.oneof(
  fc.integer({ min: -1_000_000, max: 1_000_000 }),
  fc.maxSafeInteger().map(n => minEpochDay + (Math.abs(n) % (maxEpochDay - minEpochDay + 1))),
)

const anyTime = fc
  .tuple(
    anyEpochDay,
    fc.integer({ min: 0, max: 86_399 }),
    fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 999_999_999 })),
  )
  .map(([day, second, nanos]) => new Time(BigInt(day) * 86_400n + BigInt(second), nanos))

describe('parseTime and formatTime', () => {
  const table: readonly [string, string][] = [
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z'],
    ['2019-05-27T05:15:48Z', '2019-05-27T05:15:48Z'],
    ['2019-05-27t05:15:48z', '2019-05-27T05:15:48Z'],
    ['2019-05-27T05:15Z', '2019-05-27T05:15:00Z'],
    ['2019-05-27T05:15:48.Z', '2019-05-27T05:15:48Z'],
    ['2019-05-27T05:15:48.1Z', '2019-05-27T05:15:48.100Z'],
    ['2019-05-27T05:15:48.0001Z', '2019-05-27T05:15:48.000100Z'],
    ['2019-05-27T05:15:48.000000Z', '2019-05-27T05:15:48Z'],
    ['2019-05-27T05:15:48.123456789Z', '2019-05-27T05:15:48.123456789Z'],
    ['2019-05-27T05:15:48+02:00', '2019-05-27T03:15:48Z'],
    ['2019-05-27T05:15:48-02:30', '2019-05-27T07:45:48Z'],
    ['2019-05-27T05:15:48+0230', '2019-05-27T02:45:48Z'],
    ['2019-05-27T05:15:48+00:00:48', '2019-05-27T05:15:00Z'],
    ['2019-05-27T05:15-18:00', '2019-05-27T23:15:00Z'],
    ['2019-05-27T05:15:48-00:00', '2019-05-27T05:15:48Z'],
    ['2019-05-27T24:00:00Z', '2019-05-28T00:00:00Z'],
    ['2019-12-31T24:00Z', '2020-01-01T00:00:00Z'],
    ['2019-02-30T10:00:00Z', '2019-02-28T10:00:00Z'],
    ['2020-02-31T10:00:00Z', '2020-02-29T10:00:00Z'],
    ['1900-02-29T10:00:00Z', '1900-02-28T10:00:00Z'],
    ['2019-04-31T10:00:00Z', '2019-04-30T10:00:00Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00Z'],
    ['-0001-12-31T23:59:59Z', '-0001-12-31T23:59:59Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59-00:01', '+10000-01-01T00:00:59Z'],
    ['+10000-01-01T00:00:00Z', '+10000-01-01T00:00:00Z'],
    ['-292275055-05-16T16:47:04.192Z', '-292275055-05-16T16:47:04.192Z'],
    ['+292278994-08-17T07:12:55.807Z', '+292278994-08-17T07:12:55.807Z'],
    ['+999999999-12-31T23:59:59.999999999Z', '+999999999-12-31T23:59:59.999999999Z'],
    ['-999999999-01-01T00:00:00Z', '-999999999-01-01T00:00:00Z'],
    ['+999999999-12-31T23:59:59-18:00', '+1000000000-01-01T17:59:59Z'],
  ]
  for (const [text, expected] of table) test(text, () => assert.equal(reformat(text), expected))

  test('parse the text that they format', () => {
    fc.assert(fc.property(anyTime, time => assert.deepEqual(parseTime(formatTime(time)), time)))
  })

  test('agree with Temporal', () => {
    const nanosMax = 86_400n * 10n ** 17n
    fc.assert(
      fc.property(
        fc.bigInt({ min: -nanosMax, max: nanosMax }),
        fc.integer({ min: -1079, max: 1079 }),
        (nanos, minutes) => {
          const instant = Temporal.Instant.fromEpochNanoseconds(nanos)
          const time = timeFromEpoch(nanos, unit('nanosecond'))
          assert.ok(time)
          // Temporal requires six digits of year where it requires a sign.
          const text = formatTime(time).replace(
            /^([+-])(\d{4,5})-/,
            (_, sign, year) => `${sign}${year.padStart(6, '0')}-`,
          )
          assert.equal(Temporal.Instant.from(text).epochNanoseconds, nanos)
          const sign = minutes < 0 ? '-' : '+'
          const clock = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
            .map(n => String(n).padStart(2, '0'))
            .join(':')
          const local = instant.toString().replace('Z', `${sign}${clock}`)
          const shifted = parseTime(local)
          assert.ok(shifted)
          assert.equal(nanosOfTime(shifted), nanos - BigInt(minutes) * 60n * 10n ** 9n)
        },
      ),
    )
  })
})

describe('parseTime', () => {
  const invalid = [
    '',
    ...'now 2019-05-27 2019-05-27T05:15:48 2019-05-27T05:15:48+02 2019-05-27T05:15:48+2:00 2019-05-27T05:15:48+020000 2019-05-27T05:15:48+02:60 2019-05-27T05:15:48+02:00:60 2019-05-27T05:15:48+02:00-00 2019-05-27T05:15:48+18:01 2019-05-27T05:15:48-19:00 2019-05-27T05:15:48Z+02:00 2019-05-27T05:15:48ZZ'.split(
      ' ',
    ),
    '2019-05-27 05:15:48Z',
    ' 2019-05-27T05:15:48Z',
    '2019-05-27T05:15:48Z ',
    ...'2019-05-27T05Z 2019-05-27T05:15.5Z 2019-05-27T5:15:48Z 2019-05-27T05:15:60Z 2019-05-27T05:60:00Z 2019-05-27T25:00:00Z 2019-05-27T24:00:01Z 2019-05-27T24:01Z 2019-05-27T24:00:00.1Z 2019-05-27T05:15:48,5Z 2019-05-27T05:15:48.1234567890Z 2019-13-01T00:00:00Z 2019-00-01T00:00:00Z 2019-01-00T00:00:00Z 2019-01-32T00:00:00Z 2019-1-01T00:00:00Z 2019-01-1T00:00:00Z 20190527T051548Z 10000-01-01T00:00:00Z 999-01-01T00:00:00Z -999-01-01T00:00:00Z -0000-01-01T00:00:00Z +1000000000-01-01T00:00:00Z 2019-05-27T05:15:48\u0130'.split(
      ' ',
    ),
  ]
  for (const text of invalid)
    test(`rejects ${JSON.stringify(text)}`, () => assert.equal(parseTime(text), undefined))
})

describe('times as numbers', () => {
  test('microseconds are exact, and rounded down', () => {
    assert.deepEqual(timeFromMicros(-1n), new Time(-1n, 999_999_000))
    assert.deepEqual(timeFromMicros(1_500_000), new Time(1n, 500_000_000))
    assert.equal(microsOfTime(new Time(-1n, 999_999_999)), -1n)
    assert.equal(microsOfTime(new Time(0n, 999)), 0n)
    assert.equal(millisOfTime(new Time(-1n, 1)), -1000n)
    assert.equal(formatTime(maxMicrosTime), '+294247-01-10T04:00:54.775807Z')
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        n => microsOfTime(timeFromMicros(n)) === n,
      ),
    )
  })

  test('the limits are those of the error text', () => {
    assert.equal(
      timeBoundsText,
      'dates and times must be between -1000000000-01-01T00:00:00Z and +1000000000-12-31T23:59:59.999999999Z',
    )
    const nano = unit('nanosecond')
    assert.equal(addToTime(minTime, -1n, nano), undefined)
    assert.equal(addToTime(maxTime, 1n, nano), undefined)
    assert.deepEqual(addToTime(minTime, nanosOfTime(maxTime) - nanosOfTime(minTime), nano), maxTime)
  })

  const units: readonly [string, string][] = [
    ['day', '1970-01-02T00:00:00Z'],
    ['half day', '1970-01-01T12:00:00Z'],
    ['hour', '1970-01-01T01:00:00Z'],
    ['minute', '1970-01-01T00:01:00Z'],
    ['second', '1970-01-01T00:00:01Z'],
    ['millisecond', '1970-01-01T00:00:00.001Z'],
    ['microsecond', '1970-01-01T00:00:00.000001Z'],
    ['nanosecond', '1970-01-01T00:00:00.000000001Z'],
  ]
  for (const [name, text] of units) {
    test(`one ${name}`, () => {
      const time = timeFromEpoch(1n, unit(name))
      assert.ok(time)
      assert.equal(formatTime(time), text)
      assert.equal(timeUnit(`${name}s`), timeUnit(name))
      assert.equal(unit(name).ofDates, name === 'day')
    })
  }
  test('has no other units', () => {
    for (const name of ['week', 'month', 'year', 'Day', 'dayss', ' day', ''])
      assert.equal(timeUnit(name), undefined)
  })

  const sums: readonly [bigint, string, string | undefined][] = [
    [-(2n ** 63n), 'millisecond', '-292275055-05-16T16:47:04.192Z'],
    [2n ** 63n - 1n, 'milliseconds', '+292278994-08-17T07:12:55.807Z'],
    [-(2n ** 63n), 'nanosecond', '1677-09-21T00:12:43.145224192Z'],
    [2n ** 63n - 1n, 'nanosecond', '2262-04-11T23:47:16.854775807Z'],
    [-(2n ** 63n), 'day', undefined],
    [106_751_991_167_300n, 'day', undefined],
    [2_562_047_788_015_215n, 'hour', undefined],
    [2n ** 63n - 1n, 'second', undefined],
  ]
  for (const [amount, name, expected] of sums) {
    test(`${amount} ${name} after the epoch`, () => {
      const sum = addToTime(new Time(0n, 0), amount, unit(name))
      assert.equal(sum && formatTime(sum), expected)
    })
  }

  test('differences are whole units, rounded toward zero', () => {
    const start = new Time(0n, 0)
    assert.equal(diffTimes(start, new Time(86_399n, 0), unit('day')), 0n)
    assert.equal(diffTimes(new Time(86_399n, 0), start, unit('day')), 0n)
    assert.equal(diffTimes(start, new Time(2n * 86_400n + 43_200n, 0), unit('days')), 2n)
    assert.equal(diffTimes(new Time(3600n, 0), start, unit('hours')), -1n)
    assert.equal(diffDates(new LocalDate(0), new LocalDate(-3)), -3n)
  })
})

describe('calendar parts', () => {
  test('have known values', () => {
    assert.deepEqual(calendarParts(new Time(2_147_483_648n, 0)), {
      year: 2038,
      month: 1,
      dayOfMonth: 19,
      dayOfYear: 19,
      dayOfWeek: 2,
      hour: 3,
      minute: 14,
      second: 8,
    })
    assert.equal(calendarParts(minTime).year, -1_000_000_000)
    assert.equal(calendarParts(maxTime).dayOfYear, 366)
  })

  test('agree with Temporal', () => {
    fc.assert(
      fc.property(fc.integer({ min: -8_640_000_000_000, max: 8_640_000_000_000 }), second => {
        const zoned = Temporal.Instant.fromEpochMilliseconds(second * 1000).toZonedDateTimeISO('UTC')
        assert.deepEqual(calendarParts(new Time(BigInt(second), 0)), {
          year: zoned.year,
          month: zoned.month,
          dayOfMonth: zoned.day,
          dayOfYear: zoned.dayOfYear,
          dayOfWeek: zoned.dayOfWeek,
          hour: zoned.hour,
          minute: zoned.minute,
          second: zoned.second,
        })
      }),
    )
  })
})

describe('dates', () => {
  const table: readonly [string, number][] = [
    ['1970-01-01', 0],
    ['1969-12-31', -1],
    ['2000-02-29', 11_016],
    ['0000-03-01', -719_468],
    ['-999999999-01-01', minEpochDay],
    ['+999999999-12-31', maxEpochDay],
    ['+10000-01-01', 2_932_897],
  ]
  for (const [text, epochDay] of table) {
    test(text, () => {
      assert.deepEqual(parseDate(text), new LocalDate(epochDay))
      assert.equal(formatDate(new LocalDate(epochDay)), text)
    })
  }
  for (const text of [
    '',
    ...'19700101 1970-1-01 1970-01-1 2019-02-29 1900-02-29 2019-04-31 1970-13-01 10000-01-01 -0000-01-01'.split(
      ' ',
    ),
    ' 1970-01-01',
    '1970-01-01 ',
    '1970-01-01Z',
  ]) {
    test(`rejects ${JSON.stringify(text)}`, () => assert.equal(parseDate(text), undefined))
  }

  test('parse the text that they format, for every calendar day', () => {
    fc.assert(
      fc.property(anyEpochDay, epochDay => {
        const date = new LocalDate(epochDay)
        assert.deepEqual(parseDate(formatDate(date)), date)
        const { year, month, day } = civilDayOf(epochDay)
        assert.equal(epochDayOf(year, month, day), epochDay)
      }),
    )
  })

  test('can be moved by days within their range', () => {
    assert.deepEqual(addDays(new LocalDate(30), 1n), new LocalDate(31))
    assert.deepEqual(addDays(new LocalDate(0), -1n), new LocalDate(-1))
    assert.equal(addDays(new LocalDate(maxEpochDay), 1n), undefined)
    assert.equal(addDays(new LocalDate(0), -(2n ** 63n)), undefined)
  })

  test('convert to times and back', () => {
    assert.deepEqual(dateOfTime(new Time(-1n, 5)), new LocalDate(-1))
    assert.deepEqual(dateOfTime(new Time(86_400n, 0)), new LocalDate(1))
    assert.equal(dateOfTime(minTime), undefined)
    assert.equal(dateOfTime(maxTime), undefined)
    fc.assert(fc.property(anyEpochDay, day => dateOfTime(timeOfDate(new LocalDate(day)))?.epochDay === day))
  })
})
