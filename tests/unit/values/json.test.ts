// The request parser: the facts of the protocol, and agreement with JSON.parse where the two must agree.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { JsonSyntaxError, jsonLimits, parseJson } from '../../../src/values/json.ts'
import type { Json } from '../../../src/values/value.ts'
import { fc } from '../../support/fast-check.ts'

function reasonOf(text: string): string {
  try {
    parseJson(text)
  } catch (error) {
    assert.ok(error instanceof JsonSyntaxError)
    return error.reason
  }
  return 'accepted'
}

/** The result that JSON.parse would return: the exact value with ordinary numbers and objects. */
function ordinary(json: Json): unknown {
  if (typeof json === 'bigint') return Number(json)
  if (json instanceof Map) {
    const object: Record<string, unknown> = {}
    for (const [key, value] of json as ReadonlyMap<string, Json>) {
      Object.defineProperty(object, key, {
        value: ordinary(value),
        enumerable: true,
        configurable: true,
        writable: true,
      })
    }
    return object
  }
  return Array.isArray(json) ? json.map(ordinary) : json
}

describe('parseJson: numbers and strings', () => {
  const numbers: readonly [string, bigint | number][] = [
    ['0', 0n],
    ['-0', 0n],
    ['-0.0', -0],
    ['1', 1n],
    ['1.0', 1],
    ['1e2', 100],
    ['1E+2', 100],
    ['25e-1', 2.5],
    ['1e400', Number.POSITIVE_INFINITY],
    ['1e-400', 0],
    ['999999999999999', 999_999_999_999_999n],
    ['-99999999999999', -99_999_999_999_999n],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
    [`0.${'1'.repeat(998)}`, 1 / 9],
  ]
  for (const [text, expected] of numbers) {
    test(`reads the number ${text.slice(0, 30)}`, () => assert.deepEqual(parseJson(text), expected))
  }

  const strings: readonly [string, string][] = [
    ['""', ''],
    ['"plain"', 'plain'],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\/\b\f\n\r\t'],
    ['"a\\u0041b\\u00e9"', 'aAb\u00e9'],
    ['"\\u0000"', '\u0000'],
    ['"\\uD83D\\uDE00"', '😀'],
    ['"\\ud800 alone"', '\ud800 alone'],
    ['"\u007f\u2028é😀"', '\u007f\u2028é😀'],
  ]
  for (const [text, expected] of strings) {
    test(`reads the string ${JSON.stringify(text)}`, () => assert.equal(parseJson(text), expected))
  }
})

describe('parseJson: documents', () => {
  const firstOnly: readonly [string, Json][] = [
    ['1 2', 1n],
    ['[1] 2', [1n]],
    ['[1][', [1n]],
    ['"a"{', 'a'],
    ['true false', true],
    [' \t\r\n null \n', null],
    ['\ufeff7', 7n],
  ]
  for (const [text, expected] of firstOnly) {
    test(`reads the first value of ${JSON.stringify(text)}`, () =>
      assert.deepEqual(parseJson(text), expected))
  }

  test('keeps the order of keys, and the first of equal ones', () => {
    const parsed = parseJson('{"b":1,"2":2,"1":3,"b":4,"\\u0062":5,"__proto__":6}')
    assert.ok(parsed instanceof Map)
    assert.deepEqual(
      [...parsed],
      [
        ['b', 1n],
        ['2', 2n],
        ['1', 3n],
        ['__proto__', 6n],
      ],
    )
  })

  test('agrees with JSON.parse on every document', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: 'binary' }),
        fc.constantFrom(undefined, 1, '\t'),
        (document, indent) => {
          const text = JSON.stringify(document, null, indent)
          // Integers that may not fit into 64 bits are rejected by this parser and rounded by JSON.parse.
          fc.pre(!/\d{19}/.test(text))
          assert.deepEqual(ordinary(parseJson(text)), JSON.parse(text))
        },
      ),
    )
  })

  test('returns or rejects any damaged text, and never throws another error', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.string({ maxLength: 3 }), (text, where, noise) => {
        const at = where % (text.length + 1)
        assert.notEqual(reasonOf(text.slice(0, at) + noise + text.slice(at + 1)), undefined)
      }),
    )
  })
})

describe('parseJson: errors and limits', () => {
  const invalid = [
    '',
    ' ',
    ...'NaN Infinity 01 -01 - +1 .5 1. 1.e1 1e 1e+ 9223372036854775808 -9223372036854775809'.split(' '),
    `1${'0'.repeat(1000)}`,
    `0.${'1'.repeat(999)}`,
    ...'tru nul undefined " "\\" "\\x" "\\u12" "\\u12g4" "\\u123 "a\nb" "\\n\u0001" { {"a"} {"a":} {"a":1,} {a:1}'.split(
      ' ',
    ),
    "{'a':1}",
    '{,}',
    '{"a":1 "b":2}',
    '{"a" 1}',
    '[',
    '[1,]',
    '[,1]',
    '[1 2]',
    '[1}',
    ']',
    '/* no */ 1',
    '1 // no',
    '[1] junk',
    '[1]]',
    '{},',
    '1junk',
    'truejunk',
    '1"a"',
    '\u00a01',
  ]
  for (const text of invalid) {
    test(`rejects ${JSON.stringify(text.slice(0, 30))}`, () => assert.equal(reasonOf(text), 'syntax'))
  }

  test('reports the position of the error', () => {
    assert.throws(() => parseJson('[1, x]'), { name: 'JsonSyntaxError', reason: 'syntax', offset: 4 })
  })

  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const nested = (levels: number) => open.repeat(levels) + (open === '[' ? '' : '1') + close.repeat(levels)
    test(`accepts ${jsonLimits.jsonDepthMax} levels of ${open} and not one more`, () => {
      assert.equal(reasonOf(nested(jsonLimits.jsonDepthMax)), 'accepted')
      assert.equal(reasonOf(nested(jsonLimits.jsonDepthMax + 1)), 'nesting')
    })
  }

  test('counts levels, not containers', () => {
    assert.equal(reasonOf(`[${'[],{},'.repeat(jsonLimits.jsonDepthMax)}[]]`), 'accepted')
  })

  test('limits the length of keys', () => {
    assert.equal(reasonOf(`{"${'k'.repeat(jsonLimits.jsonNameCharsMax)}":1}`), 'accepted')
    assert.equal(reasonOf(`{"${'k'.repeat(jsonLimits.jsonNameCharsMax + 1)}":1}`), 'syntax')
  })
})
