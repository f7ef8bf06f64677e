// Formatting: agreement with recorded results of java.util.Formatter (JDK 17), and our own rules.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { Action } from '../../../src/fql4/values/transient.ts'
import { TransactionTime } from '../../../src/values/value.ts'
import { assertError, errorOf, evaluatePure } from '../../support/evaluate-pure.ts'
import { fc } from '../../support/fast-check.ts'

/** The format, a value as a query in JSON, and the output of Java; null where Java throws. */
type Recorded = readonly [format: string, value: string, text: string | null]

const recorded: readonly Recorded[] = JSON.parse(
  readFileSync(new URL('java-format.json', import.meta.url), 'utf8'),
)

const format = (text: string, ...values: unknown[]) => evaluatePure({ format: text, values })

describe('conversions', () => {
  test('print as Java prints', () => {
    for (const [text, value, expected] of recorded) {
      // Some formats need two values.
      const query = `{"format": ${JSON.stringify(text)}, "values": [${value}, ${value}]}`
      if (expected !== null) assert.equal(evaluatePure(query), expected, query)
      else assert.deepEqual(errorOf(query).position, ['format'], query)
    }
  })

  test('of doubles print digits that read back', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), double => {
        const text = evaluatePure(
          { format: '%.20e', values: [{ var: 'given' }] },
          { given: double },
        ) as string
        assert.equal(Number(text), double)
      }),
    )
  })

  test('of not-a-number and the infinities', () => {
    const print = (text: string, given: number) =>
      evaluatePure({ format: text, values: [{ var: 'given' }] }, { given })
    assert.equal(print('%8.2f', Number.NaN), '     NaN')
    assert.equal(print('%08.2f', Number.NEGATIVE_INFINITY), '-Infinity')
    assert.equal(print('%(012E', Number.NEGATIVE_INFINITY), '  (INFINITY)')
    assert.equal(print('%+g', Number.POSITIVE_INFINITY), '+Infinity')
  })

  test('of any value as text', () => {
    const given = new Action('update')
    assert.equal(evaluatePure({ format: '%s %S', values: [{ var: 'given' }, 'ß'] }, { given }), 'update SS')
    assert.equal(format('%s %s %.3s', 1, { date: '2024-02-28' }, true), '1 2024-02-28 tru')
    assert.equal(evaluatePure('{"format": "%s %s", "values": [1.0, 1e10]}'), '1.0 1.0E10')
  })

  test('of any value as JSON', () => {
    const value = { object: { a: [1, null, 'x'], '@b': { '@ts': '2024-02-28T00:00:00Z' } } }
    assert.equal(format('%@', value), '{"@obj":{"a":[1,null,"x"],"@b":{"@ts":"2024-02-28T00:00:00Z"}}}')
    const ref = { index: 'none' }
    const withClass = '{"@ref":{"id":"none","class":{"@ref":{"id":"indexes"}}}}'
    assert.equal(format('%@', ref), withClass)
    assert.equal(format('%^', ref), withClass.replace('class', 'collection'))
    assert.equal(format('%8@|%-8^|', 1, true), '       1|true    |')
    assert.equal(
      evaluatePure({ format: '%@', values: { var: 'given' } }, { given: TransactionTime.micros }),
      'null',
    )
  })
})

describe('which value goes where', () => {
  test('by order, by index, the one before', () => {
    assert.equal(format('%s %1$s %s %<s', 'a', 'b'), 'a a b b')
    assert.equal(format('%s', 'a', 'surplus'), 'a')
    assert.equal(evaluatePure({ format: '%s', values: 'bare' }), 'bare')
    assert.equal(evaluatePure({ format: '100%%%n', values: [] }), '100%\n')
  })

  test('too few values, or no value with that index', () => {
    const description = (text: string) => {
      const error = errorOf({ format: text, values: ['a'] })
      assert.deepEqual(error.position, ['format'])
      return error.description
    }
    assert.equal(description('%s %s'), 'format specifiers count must be <= arguments size')
    assert.equal(description('%2$s'), 'index must be >= 1 and <= arguments size')
    assert.equal(description('%0$s'), 'index must be >= 1 and <= arguments size')
    assert.equal(description('%<s'), "Invalid conversion format '%<s'.")
  })
})

describe('errors', () => {
  test('of the format show the invalid part', () => {
    const description = (text: string) => errorOf({ format: text, values: [1] }).description
    assert.equal(description('50% of'), "Invalid conversion format '% o'.")
    assert.equal(description('%'), "Invalid conversion format '%'.")
    assert.equal(description('%-d'), "Invalid conversion format '%-d'.")
    assert.equal(description('%99999999999d'), "Invalid conversion format '%99999999999d'.")
    assert.equal(description('%tx'), "Invalid date/time suffix '%tx'.")
  })

  test('of a value have the position of the value', () => {
    const cases: [string, unknown, string][] = [
      ['%d', 1.5, 'Integer expected, Double provided.'],
      ['%x', '1', 'Integer expected, String provided.'],
      ['%f', 1, 'Number expected, Integer provided.'],
      ['%e', null, 'Number expected, Null provided.'],
      ['%tH', '12:00', 'Date or Time expected, String provided.'],
      ['%s', [1], 'Cannot cast Array to String.'],
    ]
    for (const [text, value, description] of cases) {
      assertError({ format: `%s${text}`, values: ['ok', value] }, 'invalid argument', description, [
        'values',
        1,
      ])
    }
  })

  test('a date has no hours', () => {
    assertError(
      { format: '%tH', values: { date: '2024-02-28' } },
      'invalid argument',
      "Invalid date/time suffix '%tH'.",
      ['format'],
    )
  })
})
