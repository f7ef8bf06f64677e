// Finding the ends of JSON elements in text and bytes, and writing JSON.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseJson } from '../../../src/values/json.ts'
import { blanksEnd, type JsonSource, unfinished, valueEnd } from '../../../src/values/json-scan.ts'
import { writeJson } from '../../../src/values/write-json.ts'
import { fc } from '../../support/fast-check.ts'

const sources = (text: string): readonly JsonSource[] => [text, Buffer.from(text)]

describe('valueEnd', () => {
  test('is the position after the value, whatever follows', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom('', ' ', ',1', ']', '}'), (value, rest) => {
        const text = JSON.stringify(value)
        const [whole, bytes] = sources(`${text}${rest}`) as [string, Uint8Array]
        assert.equal(valueEnd(whole, 0), text.length)
        assert.equal(valueEnd(bytes, 0), Buffer.byteLength(text))
      }),
    )
  })

  test('is unfinished for an array, object or string that is cut off', () => {
    const text = '[{"a\\"]":["\\\\"]}]'
    for (let length = 1; length < text.length; length++) {
      for (const source of sources(text.slice(0, length))) assert.equal(valueEnd(source, 0), unfinished)
    }
    for (const source of sources('"a\\"')) assert.equal(valueEnd(source, 0), unfinished)
  })

  test('is unfinished for a value that is still open at the limit', () => {
    for (const source of sources('[1,2,3]')) {
      assert.equal(valueEnd(source, 0, 6), unfinished)
      assert.equal(valueEnd(source, 0, 7), 7)
    }
    for (const source of sources('"a\n"')) {
      assert.equal(valueEnd(source, 0, 2), unfinished)
      assert.equal(valueEnd(source, 0, 4), 4)
    }
  })

  test('advances by one where there is no value', () => {
    for (const source of sources(', 1')) assert.equal(valueEnd(source, 0), 1)
  })
})

test('blanksEnd is the length when only blanks follow', () => {
  for (const source of sources(' \n\t ')) assert.equal(blanksEnd(source, 0), 4)
})

describe('writeJson', () => {
  const values = [
    1n,
    -(2n ** 63n),
    1,
    -0,
    1e21,
    5e-324,
    'ä"\\\n',
    null,
    true,
    [],
    new Map(),
    [new Map([['a', [1n, 2.5]]])],
  ]

  test('writes text that parses to the same value, compact or indented', () => {
    for (const value of values) {
      assert.deepEqual(parseJson(writeJson(value)), value)
      assert.deepEqual(parseJson(writeJson(value, '  ')), value)
    }
  })

  test('writes plain objects, and strings for numbers that JSON lacks', () => {
    const text = writeJson({ a: [Number.NaN, { b: Number.NEGATIVE_INFINITY }] })
    assert.equal(text, '{"a":["NaN",{"b":"-Infinity"}]}')
    assert.equal(writeJson({ a: [1n] }, '  '), '{\n  "a": [\n    1\n  ]\n}')
  })
})
