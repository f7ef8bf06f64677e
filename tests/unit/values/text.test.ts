// Doubles, numbers in text, base64, UUIDs, names and ids: tables of the facts, and round trips.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeBase64, encodeBase64 } from '../../../src/values/base64.ts'
import { javaDoubleText } from '../../../src/values/double-text.ts'
import { isReservedName, isValidName, parseId } from '../../../src/values/names.ts'
import { parseJavaNumber } from '../../../src/values/number-text.ts'
import { trimBlanks } from '../../../src/values/trim.ts'
import { parseUuid } from '../../../src/values/uuid.ts'
import { fc } from '../../support/fast-check.ts'

describe('javaDoubleText', () => {
  const table: readonly [number, string][] = [
    [0, '0.0'],
    [-0, '-0.0'],
    [1, '1.0'],
    [-1, '-1.0'],
    [100, '100.0'],
    [1.5, '1.5'],
    [0.001, '0.001'],
    [0.00099, '9.9E-4'],
    [1e-4, '1.0E-4'],
    [9_999_999, '9999999.0'],
    [9_999_999.5, '9999999.5'],
    [1e7, '1.0E7'],
    [-1e7, '-1.0E7'],
    [12_345_678.9, '1.23456789E7'],
    [1e10, '1.0E10'],
    [1e23, '9.999999999999999E22'],
    [2e23, '1.9999999999999998E23'],
    [7.821206494077903e17, '7.8212064940779034E17'],
    [1.6267591188332997e18, '1.62675911883329971E18'],
    [2.3457055521446096e25, '2.3457055521446095E25'],
    [2 ** -44, '5.6843418860808015E-14'],
    [2 ** 63, '9.223372036854776E18'],
    [2e-323, '2.0E-323'],
    [1e-323, '1.0E-323'],
    [2.2250738585072014e-308, '2.2250738585072014E-308'],
    [5e-324, '4.9E-324'],
    [Number.MAX_VALUE, '1.7976931348623157E308'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [Number.NEGATIVE_INFINITY, '-Infinity'],
  ]
  for (const [double, text] of table) test(text, () => assert.equal(javaDoubleText(double), text))

  test('has a point and parses to the same double', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), double => {
        const text = javaDoubleText(double)
        assert.match(text, /^-?\d+\.\d+(E-?\d+)?$/)
        assert.ok(Object.is(Number(text), double))
      }),
    )
  })
})

describe('parseJavaNumber', () => {
  const table: readonly [string, bigint | number | undefined][] = [
    ['12abc', 12n],
    ['5-', 5n],
    ['1e3', 1n],
    ['1E3', 1000n],
    ['1E-2', 0.01],
    ['1E', 1n],
    ['1E+5', 1n],
    ['1.5E3', 1500n],
    ['1.5E0', 1.5],
    ['1E99999999999999999999', 1n],
    ['1E400', Number.POSITIVE_INFINITY],
    ['1E-400', 0],
    ['0x10', 0n],
    ['1,234.5', 1234.5],
    ['1,234,567', 1_234_567n],
    [',5', 5n],
    ['1.2,3', 1.2],
    ['1.2.3', 1.2],
    ['.5', 0.5],
    ['-.5', -0.5],
    ['5.', 5n],
    ['1.0', 1n],
    ['1.000', 1n],
    ['10', 10n],
    ['1000E-3', 1n],
    [' 42 ', 42n],
    ['\t-7\n', -7n],
    ['007', 7n],
    ['0', 0n],
    ['0.05', 0.05],
    ['-0', -0],
    ['-0.0', -0],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
    ['9223372036854775808', 2 ** 63],
    ['-9223372036854775809', -(2 ** 63)],
    ['1E18', 10n ** 18n],
    ['1E19', 1e19],
    ['NaN', Number.NaN],
    ['∞', Number.POSITIVE_INFINITY],
    ['-∞', Number.NEGATIVE_INFINITY],
    ['+3', undefined],
    ['- 5', undefined],
    ['--5', undefined],
    ['', undefined],
    [' ', undefined],
    ['-', undefined],
    ['.', undefined],
    [',', undefined],
    ['abc', undefined],
    ['E5', undefined],
    ['Infinity', undefined],
    ['-NaN', undefined],
  ]
  for (const [text, expected] of table) {
    test(JSON.stringify(text), () =>
      assert.ok(Object.is(parseJavaNumber(text), expected), String(parseJavaNumber(text))),
    )
  }

  test('parses the text of every 64-bit integer', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        n => parseJavaNumber(String(n)) === n,
      ),
    )
  })

  test('parses the text of a double', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), double => {
        const number = parseJavaNumber(javaDoubleText(double))
        assert.equal(Number(number), double)
        const type = Number.isSafeInteger(double) && !Object.is(double, -0) ? 'bigint' : typeof number
        assert.equal(typeof number, type)
      }),
    )
  })
})

describe('trimBlanks', () => {
  test('removes control characters and spaces, not Unicode spaces', () => {
    assert.equal(trimBlanks('\u0000 \t a b \r\n'), 'a b')
    assert.equal(trimBlanks('\u00a0a\u2003'), '\u00a0a\u2003')
    assert.equal(trimBlanks(' \n '), '')
  })
})

describe('base64', () => {
  const readable: readonly [string, readonly number[]][] = [
    ['', []],
    ['AQ==', [1]],
    ['AQ', [1]],
    ['AQI=', [1, 2]],
    ['AQI', [1, 2]],
    ['+/+/', [251, 255, 191]],
    ['-_-_', [251, 255, 191]],
    ['+_-/', [251, 255, 191]],
  ]
  for (const [text, bytes] of readable) {
    test(`reads ${JSON.stringify(text)}`, () => assert.deepEqual(decodeBase64(text), Uint8Array.from(bytes)))
  }
  for (const text of ['A', 'AQ=', '=', 'AQ==AQ==', 'A Q=', 'AQI=\n', 'AQ.=', 'é', '====']) {
    test(`rejects ${JSON.stringify(text)}`, () => assert.equal(decodeBase64(text), undefined))
  }
  test('round trips, in the standard alphabet', () => {
    fc.assert(
      fc.property(fc.uint8Array(), bytes => {
        const text = encodeBase64(bytes)
        assert.equal(text, Buffer.from(bytes).toString('base64'))
        assert.deepEqual(decodeBase64(text), bytes)
      }),
    )
  })
})

describe('parseUuid', () => {
  const readable: readonly [string, string][] = [
    ['9a1b2c3d-0000-4000-8000-abcdefabcdef', '9a1b2c3d-0000-4000-8000-abcdefabcdef'],
    ['9A1B2C3D-0000-4000-8000-ABCDEFABCDEF', '9a1b2c3d-0000-4000-8000-abcdefabcdef'],
    ['1-1-1-1-1', '00000001-0001-0001-0001-000000000001'],
    ['123456789-1-1-12345-1', '23456789-0001-0001-2345-000000000001'],
    ['+1-1-1-1-1', '00000001-0001-0001-0001-000000000001'],
  ]
  for (const [text, expected] of readable) {
    test(`reads ${text}`, () => assert.equal(parseUuid(text)?.text, expected))
  }
  for (const text of [
    '',
    'x',
    '1-1-1-1',
    '1-1-1-1-1-1',
    '1-1-1-1-',
    '-1-1-1-1',
    '1-1-1-1-g',
    ' 1-1-1-1-1',
    '9a1b2c3d-0000-4000-8000-abcdefabcdef0',
    'ffffffffffffffff-1-1-1-1',
  ]) {
    test(`rejects ${JSON.stringify(text)}`, () => assert.equal(parseUuid(text), undefined))
  }
  test('does not change a canonical text', () => {
    fc.assert(fc.property(fc.uuid(), text => parseUuid(text)?.text === text))
  })
})

describe('names and ids', () => {
  for (const name of ['spells', 'a.b-c_d', ';@+$-_.!~%', '_', '0', 'größe', '中文', 'a\u0301', 'x\u200d']) {
    test(`${JSON.stringify(name)} is a name`, () => assert.equal(isValidName(name), true))
  }
  for (const name of ['', 'a b', 'a/b', 'a,b', '(a)', 'a&b', 'a=b', 'a\n', '😀', 'a#']) {
    test(`${JSON.stringify(name)} is not a name`, () => assert.equal(isValidName(name), false))
  }
  test('only a single underscore is reserved', () => {
    assert.deepEqual(['_', '__', 'self', 'events'].map(isReservedName), [true, false, false, false])
  })

  const ids: readonly [string, bigint | string][] = [
    ['0', 0n],
    ['-5', -5n],
    ['007', 7n],
    ['-0', 0n],
    [`${'0'.repeat(100)}1`, 1n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
    ['9223372036854775808', 'too large'],
    ['-9223372036854775809', 'too large'],
    ['9'.repeat(10_000), 'too large'],
    ['', 'not numeric'],
    ['-', 'not numeric'],
    ['+5', 'not numeric'],
    ['1.0', 'not numeric'],
    ['self', 'not numeric'],
    ['١', 'not numeric'],
  ]
  for (const [text, expected] of ids) {
    test(`${JSON.stringify(text.slice(0, 24))} as an id`, () => assert.equal(parseId(text), expected))
  }
})
