// Corners of the library of pure functions, as apps have seen them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asLong, isNull, type Value } from '../../../../src/v10/value.ts'
import { failureOf, member } from './support.ts'

const math = { module: 'Math' }

test('texts are split and replaced on the rest behind each match', () => {
  const split = (text: string, separator: string) => member(text, 'split', separator)
  assert.deepEqual(split(',', ','), ['', ''])
  assert.deepEqual(split('', 'x'), [''])
  assert.deepEqual(split('abc', ''), ['a', 'b', 'c'])
  assert.deepEqual(split('a', ''), ['a', ''])
  const splitRegex = (text: string, regex: string) => member(text, 'splitRegex', regex)
  assert.deepEqual(splitRegex('a1bcd', '(?=1)'), ['a', '1', 'bcd'])
  assert.deepEqual(splitRegex('ab1c', '(?=1)'), ['a', 'b', '1', 'c'])
  assert.deepEqual(splitRegex('a b', '\\s*'), ['a', '', 'b', ''])
  assert.equal(member('aaab', 'replaceAllRegex', '^a', '-'), '---b')
  assert.equal(member('k1k2', 'replaceAllRegex', '(?<=k)\\d', '#'), 'k#k#')
  assert.equal(member('ab', 'replace', '', 'x', 3n), 'xxxab')
  assert.deepEqual(
    failureOf(() => member('ab', 'replaceAll', '', 'x')),
    ['value_too_large', 'Value too large: string size 16777217 exceeds limit 16777216.'],
  )
  assert.equal(failureOf(() => member('ab', 'replace', 'a', 'x', 0n))[1].includes('`count`'), true)
})

test('regular expressions that are none are told in the words of Java', () => {
  const reasons: readonly (readonly [string, string])[] = [
    ['+', "Dangling meta character '+' at index 0"],
    ['x**', "Dangling meta character '*' at index 2"],
    ['(a', 'Unclosed group at index 2'],
    ['a)', "Unmatched closing ')' at index 0"],
    ['[a', 'Unclosed character class at index 1'],
    ['\\k<q>', 'named capturing group <q> does not exist at index 4'],
    ['a{', 'Illegal repetition at index 2'],
    ['a{2,1}', 'Illegal repetition range at index 5'],
    ['[b-a]', 'Illegal character range at index 3'],
    ['(?z)', 'Unknown inline modifier at index 2'],
    ['\\', 'Unexpected internal error at index 1'],
    ['\\p{Foo}', 'Unknown character property name {Foo} at index 6'],
  ]
  for (const [regex, reason] of reasons) {
    const failure = failureOf(() => member('', 'matches', regex))
    assert.deepEqual(failure, ['invalid_regex', `Invalid regular expression. ${reason}`], regex)
  }
})

test('positions count code points and have to be within', () => {
  assert.equal(member('a😀b', 'length'), 3n)
  assert.equal(member('a😀b', 'indexOf', 'b'), 2n)
  assert.equal(member('a😀b', 'at', 1n), '😀')
  assert.deepEqual(
    failureOf(() => member('abc', 'indexOf', 'a', 3n)),
    ['index_out_of_bounds', 'index 3 out of bounds for length 3'],
  )
  assert.equal(member('abc', 'indexOf', ''), 0n)
  assert.equal(member('abc', 'lastIndexOf', ''), 3n)
  assert.ok(isNull(member('abc', 'indexOf', 'x')))
})

test('numbers are read as Java reads them', () => {
  const parse = (name: string, text: string, ...args: Value[]) => {
    const value = member(text, name, ...args)
    return isNull(value) ? null : value
  }
  assert.equal(parse('parseInt', '-ff', 16n), -255n)
  assert.equal(parse('parseInt', '2147483648'), null)
  assert.equal(parse('parseInt', '٣'), 3n)
  assert.deepEqual(parse('parseLong', '+12'), asLong(12n))
  assert.equal(parse('parseLong', '9223372036854775808'), null)
  for (const text of [' 5', '5 ', '5.', '5d', '5F', '5e0', '0x5p0'])
    assert.equal(parse('parseNumber', text), 5, text)
  for (const text of ['', '-', '5a', '0x10', '1_000', '1,5'])
    assert.equal(parse('parseNumber', text), null, text)
  assert.equal(parse('parseNumber', '9223372036854775808'), 2 ** 63)
  assert.equal(parse('parseDouble', '-Infinity'), Number.NEGATIVE_INFINITY)
  assert.equal(parse('parseDouble', '0x1.8p1'), 3)
})

test('numbers are rounded as apps have seen it', () => {
  assert.equal(member(math, 'round', -1.7, 0n), -1)
  assert.deepEqual(member(math, 'round', -7n, 0n), asLong(-6n))
  assert.deepEqual(member(math, 'round', -16n, -1n), asLong(-10n))
  assert.equal(member(math, 'round', 1.25, 1n), 1.3)
  assert.equal(member(math, 'trunc', 1.29, 1n), 1.2)
  assert.equal(member(math, 'abs', -(2n ** 31n)), -(2n ** 31n))
  assert.equal(member(math, 'sign', Number.NaN), 1n)
  assert.equal(member(math, 'sign', -0), -1n)
  assert.equal(member(math, 'mean', [1n, 2n]), 1.5)
  assert.equal(Number.isNaN(member(math, 'mean', []) as number), true)
  assert.deepEqual(
    failureOf(() => member(math, 'sqrt', -0)),
    ['invalid_argument', 'invalid argument `x`: x must be nonnegative'],
  )
})

test('arrays tell apart what == does not', () => {
  assert.deepEqual(member([1n, 1, asLong(1n), 0n, 0, -0], 'distinct'), [1n, 1, 0n, -0])
  assert.equal(member([Number.NaN], 'includes', Number.NaN), false)
  assert.equal(member([0], 'includes', -0), true)
  assert.deepEqual(member([[1n], [2n, 3n]], 'flatten'), [1n, 2n, 3n])
  assert.deepEqual(
    failureOf(() => member([1n], 'flatten')),
    ['type_mismatch', 'expected type: Array<Any>, received Int'],
  )
  assert.deepEqual(member(['b', 1n, null, 'a'], 'order'), [1n, 'a', 'b', null])
})

test('times and dates move by exact and by broken amounts', () => {
  const time = member({ module: 'Time' }, 'fromString', '2023-02-30T00:00:00+01:00')
  assert.equal(member(time, 'toString'), '2023-02-27T23:00:00Z')
  assert.equal(member(member(time, 'add', 0.5, ' minutes '), 'toString'), '2023-02-27T23:00:30Z')
  assert.equal(failureOf(() => member(time, 'add', 2 ** 70, 'days'))[1], 'Time exceeds the maximum value.')
  assert.equal(failureOf(() => member(time, 'add', 1n, 'weeks'))[1], '`weeks` is not a valid time unit.')
  const date = member({ module: 'Date' }, 'fromString', '2024-02-28')
  assert.equal(member(member(date, 'add', 0.5, 'days'), 'toString'), '2024-02-29')
  assert.equal(member(member(date, 'add', -0.5, 'days'), 'toString'), '2024-02-28')
  assert.deepEqual(member(date, 'difference', date), asLong(0n))
  assert.equal(failureOf(() => member({ module: 'Date' }, 'fromString', '2023-02-29'))[0], 'invalid_date')
})

test('objects are looked into by paths, and made of entries', () => {
  const object = { module: 'Object' }
  const nested = new Map<string, Value>([['a', new Map([['b', 1n]])]])
  assert.equal(member(object, 'select', nested, ['a', 'b']), 1n)
  assert.equal(member(object, 'hasPath', nested, ['a', 'x', 5n]), false)
  assert.equal(
    failureOf(() => member(object, 'select', nested, ['a', 5n]))[1].includes('array of strings'),
    true,
  )
  assert.deepEqual(
    member(object, 'fromEntries', [
      ['a', 1n],
      ['b', 2n],
      ['a', 3n],
    ]),
    new Map([
      ['a', 3n],
      ['b', 2n],
    ]),
  )
  const refused = failureOf(() => member(object, 'fromEntries', [[1n]]))
  assert.equal(
    refused[1],
    'invalid argument `entries`: expected inner array of length 2 but saw length 1 at index 0',
  )
})
