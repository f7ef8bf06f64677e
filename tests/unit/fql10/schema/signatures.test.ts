// Signatures of fields: parsing, and the values that their types accept.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resolveSignature } from '../../../../src/fql10/schema/signatures.ts'
import { parseSignature } from '../../../../src/fql10/syntax/parse-query.ts'
import { Source } from '../../../../src/fql10/syntax/source.ts'
import { withDefaults } from '../../../../src/model/schema/collection-rules.ts'
import { pathText, typeFaultText } from '../../../../src/model/schema/fault-texts.ts'
import { type ObjectType, typeText } from '../../../../src/model/schema/field-types.ts'
import { parsePath, pathSpelling } from '../../../../src/model/schema/paths.ts'
import { typeFailures } from '../../../../src/model/schema/type-check.ts'
import { parseTime } from '../../../../src/values/time.ts'
import { Ref, TransactionTime, Uuid, type Value } from '../../../../src/values/value.ts'

const lid = { number: 1024, name: 'Lid' }
const cap = { number: 1025, name: 'Cap' }
const find = (name: string) => (name === 'Lid' || name === 'Cover' ? lid : name === 'Cap' ? cap : undefined)

function resolved(signature: string) {
  const source = new Source('main.fsl', signature)
  return resolveSignature(parseSignature(source), source, find)
}

const object = (fields: Readonly<Record<string, Value>>) => new Map(Object.entries(fields))

/** The faults of a value, one text each. */
function wrong(signature: string, value: Value | undefined): readonly string[] {
  const { faults, type, unstorable } = resolved(signature)
  assert.deepEqual([...faults, ...unstorable], [])
  return typeFailures(type, value, ['f']).map(
    ({ fault, path }) => `${pathText(path)}: ${typeFaultText(fault)}`,
  )
}

test('scalar types accept their own values', () => {
  const time = parseTime('2020-01-01T00:00:00Z')
  assert.ok(time !== undefined)
  const samples: readonly (readonly [string, Value])[] = [
    ['Int', 5n],
    ['Long', 5_000_000_000n],
    ['Number', 1.5],
    ['Float', 1.5],
    ['String', ''],
    ['Boolean', false],
    ['Bytes', new Uint8Array(2)],
    ['Time', time],
    ['Time', TransactionTime.micros],
    ['UUID', new Uuid('00000000-0000-4000-8000-000000000000')],
    ['Ref<Lid>', new Ref(1n, 1024, 5n)],
    ['Ref<Cover>', new Ref(1n, 1024, 5n)],
    ['Lid | NullLid', new Ref(1n, 1024, 5n)],
    ['Lid | EmptyRef<Lid>', new Ref(1n, 1024, 5n)],
    ['true | 3 | 2.5 | "x"', 2.5],
    ['[Int, String]', [1n, 'x']],
  ]
  for (const [signature, value] of samples) assert.deepEqual(wrong(signature, value), [], signature)
  assert.deepEqual(wrong('Int', 5_000_000_000n), ['f: Expected Int, provided Long'])
  assert.deepEqual(wrong('Double', 3n), ['f: Expected Double, provided Int'])
  assert.deepEqual(wrong('Float?', 3n), ['f: Expected Double | Null, provided Int'])
  assert.deepEqual(wrong('Ref<Lid> | Int', new Ref(1n, 1025, 5n)), [
    'f: Expected Lid | NullLid | Int, provided Document',
  ])
})

test('errors show constants of the same kind', () => {
  assert.deepEqual(wrong(`'x' | 'y'`, 'z'), ['f: Expected "x" | "y", provided "z"'])
  assert.deepEqual(wrong(`'x' | 'y'`, 3n), ['f: Expected "x" | "y", provided Int'])
})

test('only optional fields may be absent', () => {
  for (const signature of ['Int?', 'Int | Null', 'Any', 'Null']) {
    assert.deepEqual(wrong(signature, undefined), [], signature)
  }
  assert.deepEqual(wrong('Int', undefined), ['f: Missing required field of type Int'])
  assert.deepEqual(wrong('Null', 1n), ['f: Expected Null, provided Int'])
})

test('errors within arrays, tuples and objects have the path of the value', () => {
  assert.deepEqual(wrong('Array<Int>', [1n, 'x', 2n, true]), [
    'f[1]: Expected Int, provided String',
    'f[3]: Expected Int, provided Boolean',
  ])
  assert.deepEqual(wrong('Array<Int>?', ['x']), ['f[0]: Expected Int, provided String'])
  assert.deepEqual(wrong('[Int, String]', [1n]), ['f: Invalid tuple arity'])
  const signature = '{ a: Int, b: { c: String? } }'
  assert.deepEqual(wrong(signature, object({ a: 'x', b: object({ c: 5n }) })), [
    'f.a: Expected Int, provided String',
    'f.b.c: Expected String | Null, provided Int',
  ])
  assert.deepEqual(wrong(signature, object({ d: 1n })), [
    'f.d: Unexpected field provided',
    'f.a: Missing required field of type Int',
    'f.b: Missing required field of type { c: String | Null }',
  ])
  assert.deepEqual(wrong('{ *: String }', object({ p: 3n })), ['f.p: Expected String, provided Int'])
  assert.deepEqual(wrong('{ a: Int } | { b: Int }', object({ c: 1n })), [
    'f.c: Unexpected field provided',
    'f: Union requires fields [a] or [b]',
  ])
})

test('unknown types, and types whose values cannot be stored, are rejected', () => {
  const messagesOf = (signature: string) => {
    const { faults, unstorable } = resolved(signature)
    return [...faults, ...unstorable].map(({ message }) => String(message))
  }
  assert.deepEqual(messagesOf('Array<2, 3>'), ['Type constructor `Array<>` accepts 1 parameters, received 2'])
  assert.deepEqual(messagesOf('Ref<Jug>'), ['Unknown type `Jug`', 'Reference type must refer to a doc type'])
  assert.deepEqual(messagesOf('{ a: Array<Int => String> }'), ['Type Int => String is not persistable'])
  assert.deepEqual(messagesOf('Int | (String => Int)'), ['Type String => Int is not persistable'])
  assert.deepEqual(messagesOf('Array<Lid> | String'), [
    'Type Lid is not persistable',
    'Use Ref<Lid> as the type of a reference to a Lid document',
  ])
  assert.deepEqual(messagesOf('Lid | NullCap'), [
    'Type Lid is not persistable',
    'Use Ref<Lid> as the type of a reference to a Lid document',
    'Type NullCap is not persistable',
    'Use Ref<Cap> as the type of a reference to a Cap document',
  ])
  assert.deepEqual(messagesOf('EmptyRef<Lid>'), ['Type EmptyRef<Lid> is not persistable'])
  assert.deepEqual(messagesOf('ID'), ['Type ID is not persistable'])
})

test('defaults replace absent values, but not null', () => {
  const { type } = resolved(
    '{ n: { p: Int = 1 + 2, q: String? }, m: { r: Int = 4 }?, o: Array<{ s: Int = 5 }> }',
  )
  const fill = (given: ReadonlyMap<string, Value>, stored = given) =>
    withDefaults(type as ObjectType, given, stored, expression => expression)
  assert.deepEqual(fill(new Map()), object({ n: object({ p: '1 + 2' }) }))
  assert.deepEqual(fill(object({ n: null }), new Map()), new Map())
  const filled = object({ n: object({ p: 1n }), m: object({ r: '4' }), o: [object({ s: '5' })] })
  assert.deepEqual(fill(object({ n: object({ p: 1n }), m: new Map(), o: [new Map()] })), filled)
  assert.equal(typeText(type).includes('='), false)
})

test('paths are parsed in every spelling', () => {
  const spelled = (text: string) => {
    const path = parsePath(text)
    return path && pathSpelling(path)
  }
  for (const text of ['a', '.a', '["a"]', ".['a']"]) assert.equal(spelled(text), '.a', text)
  assert.equal(spelled('a.b[0]["b c"]'), '.a.b[0]["b c"]')
  for (const text of ['', '.', '..a.b', 'a..b', 'a.b.', 'a b.c', '#a.b', 'a[b]']) {
    assert.equal(spelled(text), undefined, text)
  }
})
