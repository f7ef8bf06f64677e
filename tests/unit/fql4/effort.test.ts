// No operation of a query runs long without a check of the clock. Each of these operations, on large operands, gets a
// watch whose first check ends it. An operation with one long native call announces it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withWatch } from '../../../src/base/effort.ts'
import { parse } from '../../../src/fql4/language.ts'
import { Page } from '../../../src/fql4/values/transient.ts'
import { renderValue } from '../../../src/fql4/wire/render.ts'
import { applyPatch } from '../../../src/model/resources/patch.ts'
import { referenceFailures } from '../../../src/model/resources/written-references.ts'
import { encodeTerms } from '../../../src/storage/keys/terms.ts'
import { decodeValue, encodeValue } from '../../../src/storage/keys/value-codec.ts'
import { readPattern } from '../../../src/text/regex/java-pattern.ts'
import { propertyNamed } from '../../../src/text/regex/unicode-property.ts'
import { casefold } from '../../../src/values/casefold.ts'
import { compareStrings } from '../../../src/values/collation.ts'
import { equalValues } from '../../../src/values/equality.ts'
import { extentOf } from '../../../src/values/extent.ts'
import { parseJson } from '../../../src/values/json.ts'
import { compareValues } from '../../../src/values/order.ts'
import type { Value } from '../../../src/values/value.ts'
import { ValueKeys } from '../../../src/values/value-keys.ts'
import { evaluatePure, pureSession } from '../../support/evaluate-pure.ts'

class Interruption extends Error {}

const ending = {
  check(): never {
    throw new Interruption()
  },
  beforeLongCall(): never {
    throw new Interruption()
  },
}

function endsEarly(work: () => unknown): void {
  assert.throws(() => withWatch(ending, work), Interruption)
}

const size = 100_000
const numbers = (): Value[] => Array.from({ length: size }, (_, index) => BigInt(index))
const fields = (): Map<string, Value> => new Map(numbers().map(number => [`f${number}`, number]))
const text = 'The Quick Brown Fox ǅ é '.repeat(size)
const long = (units: number) => text.slice(0, units)
const names = { scope: 0n, nameOf: () => undefined, databaseDocument: () => undefined }

const given = { var: 'given' }

/** Large character classes in short patterns. */
const classes = `(?i)[${'\\P{L}\\P{M}'.repeat(200)}]`

const walks: Record<string, () => unknown> = {
  'reading a class of characters': () => readPattern(classes),
  'comparing arrays': () => compareValues(numbers(), numbers()),
  'comparing objects': () => compareValues(fields(), fields()),
  'comparing texts': () => compareStrings(`${text}a`, `${text}b`),
  'equality of arrays': () => equalValues(numbers(), numbers()),
  'equality of objects': () => equalValues(fields(), fields()),
  'keys of values': () => new ValueKeys().keyOf(numbers()),
  'the extent of a value': () => {
    const nested = Array.from({ length: size }, () => [1n])
    return extentOf(nested)
  },
  'case folding': () => casefold(text),
  rendering: () => renderValue(numbers(), { apiVersion: '4', names }),
  encoding: () => encodeValue(numbers()),
  'encoding of terms': () => encodeTerms([numbers()]),
  patching: () => applyPatch(new Map(), new Map([['data', numbers()]])),
  'collecting the references in written data': () =>
    referenceFailures([numbers()], undefined as never, false),
  'reading JSON': () => parseJson(`[${'1,'.repeat(size)}1]`),
  'parsing a query': () => parse([...numbers()] as never, '4'),
}

for (const [name, walk] of Object.entries(walks)) {
  test(`${name} checks the clock`, () => {
    walk()
    endsEarly(walk)
  })
}

test('decoding checks the clock', () => {
  const bytes = encodeValue(numbers())
  endsEarly(() => decodeValue(bytes))
})

test('the characters of a property are collected in parts, however often it is interrupted', () => {
  const parts = () => {
    for (let interruptions = 0; ; interruptions++) {
      try {
        withWatch(ending, () => propertyNamed('IsGothic'))
        return interruptions
      } catch (error) {
        assert.ok(error instanceof Interruption)
      }
    }
  }
  assert.equal(parts(), 17)
  assert.equal(parts(), 0)
  assert.deepEqual(propertyNamed('IsGothic'), [0x10330, 0x1034a])
})

test('a pattern with a long lookahead for each match checks the clock meanwhile', () => {
  const text = 'a'.repeat(2000)
  let checks = 0
  const watch = { check: () => void checks++, beforeLongCall: () => assert.fail('it is short') }
  const query = { replacestrregex: given, pattern: 'a.*b|a', replace: '', first: false }
  withWatch(watch, () => evaluatePure(query, { given: text, session: pureSession() }))
  assert.ok(checks > 20, `${checks} checks`)
})

const array = numbers()
const object = fields()
const longText = long(300_000)

/** Queries about one large value. */
const queries: readonly (readonly [unknown, Value])[] = [
  ...['lt', 'lte', 'gt', 'gte', 'equals'].map(
    name => [{ [name]: [given, { append: [], collection: given }] }, array] as const,
  ),
  [{ contains_value: -1, in: given }, array],
  ...['union', 'intersection', 'difference'].map(name => [{ [name]: [given, given] }, array] as const),
  [{ distinct: given }, array],
  [{ distinct: given }, new Page(array, undefined, undefined)],
  ...['max', 'min', 'sum', 'count', 'mean'].map(name => [{ [name]: given }, array] as const),
  [{ merge: given, with: { object: {} } }, object],
  [{ merge: { object: {} }, with: given }, object],
  [{ map: { lambda: 'x', expr: 1 }, collection: given }, array],
  [{ filter: { lambda: 'x', expr: true }, collection: given }, array],
  [{ query: { lambda: 'x', expr: given } }, array],
  ...['casefold', 'lowercase', 'uppercase', 'titlecase', 'length'].map(
    name => [{ [name]: given }, longText] as const,
  ),
  ...['NFC', 'NFD', 'NFKC', 'NFKD'].map(form => [{ casefold: given, normalizer: form }, longText] as const),
  [{ containsstr: given, search: 'x1' }, longText],
  [{ containsstr: given, search: 'x'.repeat(100) }, longText],
  [{ findstr: given, find: 'x1' }, longText],
  [{ replacestr: given, find: 'x', replace: 'y' }, longText],
  [{ ngram: given }, longText],
  [{ containsstrregex: given, pattern: 'x1' }, longText],
  [{ findstrregex: given, pattern: '(?=x1)x' }, longText],
  [{ replacestrregex: given, pattern: 'x', replace: 'y' }, longText],
  [{ format: '%@', values: given }, array],
  [{ select_all: ['f'], from: given }, array],
  [{ select_all: [], from: given }, array],
  [{ to_object: given }, array.map(number => [`f${number}`, number])],
  [{ to_array: given }, object],
  [{ contains_value: -1, in: given }, object],
  [{ merge: { object: {} }, with: given }, array.map(() => new Map())],
  [{ findstr: given, find: 'x', start: 299_999 }, longText],
]

for (const [query, value] of queries) {
  test(`${JSON.stringify(query)} checks the clock`, () => {
    const evaluate = () => evaluatePure(query as object, { given: value, session: pureSession() })
    evaluate()
    endsEarly(evaluate)
  })
}
