// Edge cases of pure library functions, as apps have observed them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from '../support.ts'

type Expected = string | readonly [code: string, message: string | RegExp]

/** Compares results in the simple format as JSON, or failures. */
function check(cases: readonly (readonly [query: string, expected: Expected])[]): void {
  for (const [query, expected] of cases) {
    const { data, error } = run(query, { format: 'simple' })
    if (typeof expected === 'string') {
      assert.equal(error, undefined, query)
      assert.equal(JSON.stringify(data), expected, query)
      continue
    }
    assert.equal(error?.code, expected[0], query)
    if (typeof expected[1] === 'string') assert.equal(error?.message, expected[1], query)
    else assert.match(error?.message ?? '', expected[1], query)
  }
}

test('replacing all empty matches exceeds the limit of texts', () => {
  check([
    [
      "'ab'.replaceAll('', 'x')",
      ['value_too_large', 'Value too large: string size 16777217 exceeds limit 16777216.'],
    ],
  ])
})

test('positions count code points and must be within the text', () => {
  check([
    ["['a😀b'.length, 'a😀b'.indexOf('b'), 'a😀b'.at(1)]", '[3,2,"😀"]'],
    ["'abc'.indexOf('a', 3)", ['index_out_of_bounds', 'index 3 out of bounds for length 3']],
    ["['abc'.indexOf(''), 'abc'.lastIndexOf(''), 'abc'.indexOf('x')]", '[0,3,null]'],
  ])
})

test('numbers are parsed by the rules of Java, in linear time', () => {
  const blanks = ' '.repeat(200_000)
  check([
    ["['-ff'.parseInt(16), '2147483648'.parseInt(), '٣'.parseInt()]", '[-255,null,3]'],
    ["['+12'.parseLong(), '9223372036854775808'.parseLong()]", '[12,null]'],
    ["[' 5', '5.', '5d', '5F', '5e0', '0x5p0'].map(.parseDouble())", '[5,5,5,5,5,5]'],
    ["['', '-', '5a', '0x10', '1_000', '1,5'].map(.parseNumber())", '[null,null,null,null,null,null]'],
    ["'0x1.8p1'.parseDouble()", '3'],
  ])
  for (const text of [`1${blanks}x`, `${'1'.repeat(200_000)}x`]) {
    assert.equal(run('text.parseNumber()', { format: 'simple', arguments: { text } }).data, null)
  }
})

test('numbers are rounded as apps have observed it', () => {
  check([
    ['[Math.round(-1.7, 0), Math.round(-7, 0), Math.round(-16, -1)]', '[-1,-6,-10]'],
    ['[Math.round(1.25, 1), Math.trunc(1.29, 1)]', '[1.3,1.2]'],
    ['[Math.abs(-2147483648), Math.sign(Math.NaN), Math.sign(-(0.0))]', '[-2147483648,1,-1]'],
    ['Math.sqrt(-(0.0))', ['invalid_argument', 'invalid argument `x`: x must be nonnegative']],
  ])
})

test('arrays distinguish values that are equal by ==', () => {
  check([
    ['[1, 1.0, 1, 0, 0.0].distinct()', '[1,1,0]'],
    ['[[Math.NaN].includes(Math.NaN), [0.0].includes(-(0.0))]', '[false,true]'],
    ['[1].flatten()', ['type_mismatch', 'expected type: Array<Any>, received Int']],
    ["['b', 1, null, 'a'].order()", '[1,"a","b",null]'],
  ])
})

test('times and dates are moved by whole and fractional amounts, within their range of years', () => {
  check([
    ["Time('2023-02-30T00:00:00+01:00').add(0.5, ' minutes ')", '"2023-02-27T23:00:30Z"'],
    ["Time('+999999999-12-31T23:59:59Z').add(1, 'second')", ['invalid_time', /exceeds the maximum/]],
    ["Time.epoch(-Math.Infinity, 'days')", ['invalid_time', /exceeds the minimum/]],
    ["Time.epoch(Math.NaN, 'days')", ['invalid_time', /exceeds the maximum/]],
    ["Date('2024-02-28').add(-Math.Infinity, 'days')", ['invalid_date', /exceeds the minimum/]],
    ["Date('2024-02-28').subtract(-Math.Infinity, 'days')", ['invalid_date', /exceeds the maximum/]],
    ["Date('2024-02-28').subtract(1e9 * 1000, 'days')", ['invalid_date', /exceeds the minimum/]],
    ["Time('2023-02-27T00:00:00Z').add(-Math.Infinity, 'days')", ['invalid_time', /exceeds the maximum/]],
    ["Time('2023-02-27T00:00:00Z').add(1, 'weeks')", ['invalid_unit', '`weeks` is not a valid time unit.']],
    ["[0.5, -0.5].map(n => Date('2024-02-28').add(n, 'days'))", '["2024-02-29","2024-02-28"]'],
  ])
})

test('objects are read by path and created from entries', () => {
  check([
    ["Object.select({ a: { b: 1 } }, ['a', 'b'])", '1'],
    ["Object.hasPath({ a: { b: 1 } }, ['a', 'x', 5])", 'false'],
    ["Object.hasPath({ a: 1 }, ['a', 5])", ['invalid_argument', /expected an array of strings/]],
    ['Object.fromEntries([[1]])', ['invalid_argument', /length 2 but saw length 1 at index 0$/]],
  ])
})
