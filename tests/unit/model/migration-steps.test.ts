// The effect of each migration step on the data of documents, and the encoding of steps and types.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../src/base/micros.ts'
import {
  anyType,
  type FieldType,
  nullType,
  readType,
  type ScalarName,
  storedType,
} from '../../../src/model/schema/field-types.ts'
import { indexAfter } from '../../../src/model/schema/index-migration.ts'
import { readMigration } from '../../../src/model/schema/migration-effects.ts'
import { appendSteps, type Step } from '../../../src/model/schema/migration-steps.ts'
import { isObject, type ObjectValue, type Value } from '../../../src/values/value.ts'

type Plain = null | boolean | bigint | string | readonly Plain[] | { readonly [name: string]: Plain }

function stored(plain: Plain): Value {
  if (plain === null || typeof plain !== 'object') return plain
  if (Array.isArray(plain)) return plain.map(stored)
  return new Map(Object.entries(plain).map(([name, value]) => [name, stored(value)]))
}

function plain(value: Value): Plain {
  if (Array.isArray(value)) return value.map(plain)
  if (isObject(value)) return Object.fromEntries([...value].map(([name, each]) => [name, plain(each)]))
  return value as Plain
}

const scalar = (name: ScalarName): FieldType => ({ kind: 'scalar', name })
const [int, text] = [scalar('Int'), scalar('String')]
const optional = (type: FieldType): FieldType => ({ kind: 'union', members: [type, nullType] })

/** The steps as stored in a definition of the time 10. */
function timed(steps: readonly Step[], time = 10n): Value {
  const definition = new Map<string, Value>()
  appendSteps(definition, undefined, steps)
  const list = definition.get('internal_migrations') as readonly ObjectValue[]
  return list.map(step => new Map(step).set('at', time))
}

/** The data of a document of the time 1 after some steps. */
function after(data: Plain, ...steps: readonly Step[]): Plain {
  const fields = new Map([['data', stored(data)]])
  return plain(readMigration(timed(steps)).apply(fields, micros(1)).get('data') ?? null)
}

const add = (path: string, type: FieldType, value: Value = null): Step => ({
  kind: 'add',
  path: path.split('.'),
  type,
  value,
})

test('a field is added with a value or without', () => {
  assert.deepEqual(after({ a: 1n }, add('b', int, 4n)), { a: 1n, b: 4n })
  assert.deepEqual(after({ a: 1n }, add('b', optional(int))), { a: 1n })
  assert.deepEqual(after({}, add('a.b.c', int, 3n)), { a: { b: { c: 3n } } })
  assert.deepEqual(after({ a: { x: 1n } }, add('a.b', int, 3n)), { a: { x: 1n, b: 3n } })
  assert.deepEqual(after({ b: 7n }, add('b', int, 4n)), { b: 7n })
})

test('a dropped field is removed, and a moved field keeps its value', () => {
  assert.deepEqual(after({ a: { b: 1n, c: 2n } }, { kind: 'drop', path: ['a', 'b'] }), { a: { c: 2n } })
  assert.deepEqual(after({ a: 1n }, { kind: 'move', from: ['a'], to: ['b'] }), { b: 1n })
  assert.deepEqual(after({}, { kind: 'move', from: ['a'], to: ['b'] }), {})
  assert.deepEqual(after({ a: 1n }, { kind: 'move', from: ['a'], to: ['o', 'b'] }), { o: { b: 1n } })
})

test('a split gives its value to the first target of its type and fills the others', () => {
  const split = (from: string, ...targets: readonly [string, FieldType, Value][]): Step => ({
    kind: 'split',
    from: [from],
    targets: targets.map(([path, type, value]) => ({ path: [path], type, value })),
  })
  const own = split('a', ['a', text, 'none'], ['b', int, 0n])
  assert.deepEqual(after({ a: 3n }, own), { a: 'none', b: 3n })
  assert.deepEqual(after({ a: 'x' }, own), { a: 'x', b: 0n })
  assert.deepEqual(after({}, own), { a: 'none', b: 0n })
  const other = split('a', ['b', text, 'none'], ['a', int, 0n], ['tmp', anyType, null])
  assert.deepEqual(after({ a: 3n }, other), { a: 3n, b: 'none' })
  assert.deepEqual(after({ a: 'x' }, other), { a: 0n, b: 'x' })
  assert.deepEqual(after({ a: true }, other), { a: 0n, b: 'none', tmp: true })
})

test('a value in the place of an added field moves to the conflicts, under a free name', () => {
  const added = [add('n', int, 0n), { kind: 'move conflicts', into: 'c' }] as const
  assert.deepEqual(after({ n: 3n }, ...added), { n: 3n })
  assert.deepEqual(after({ n: 'x' }, ...added), { n: 0n, c: { n: 'x' } })
  assert.deepEqual(after({ n: 'x', c: { n: 4n, _n: 5n } }, ...added), {
    n: 0n,
    c: { n: 4n, _n: 5n, __n: 'x' },
  })
})

test('undeclared fields go into a field', () => {
  const anyObject: FieldType = optional({ kind: 'object', fields: new Map(), wildcard: anyType })
  const steps: readonly Step[] = [
    add('c', anyObject),
    add('n', int, 0n),
    { kind: 'move conflicts', into: 'c' },
    { kind: 'move wildcard', into: 'c', keep: ['c', 'n'] },
  ]
  assert.deepEqual(after({ n: 3n }, ...steps), { n: 3n })
  assert.deepEqual(after({ m: 1n }, ...steps), { n: 0n, c: { m: 1n } })
  assert.deepEqual(after({ c: 5n }, ...steps), { n: 0n, c: { c: 5n } })
  assert.deepEqual(after({ c: { a: 2n }, a: 5n }, ...steps), { n: 0n, c: { a: 2n, _a: 5n } })
  assert.deepEqual(after({ _a: 1n, a: 2n }, ...steps), { n: 0n, c: { a: 2n, _a: 1n } })
})

test('only steps after the schema time of a version are applied, and steps of the same time together', () => {
  const [first, second] = [
    timed([add('n', int, 0n)], 10n),
    timed([{ kind: 'move conflicts', into: 'c' }], 20n),
  ]
  const migration = readMigration([...(first as readonly Value[]), ...(second as readonly Value[])])
  const fields = new Map([['data', stored({ n: 'x' })]])
  assert.equal(migration.lastTime, 20)
  assert.deepEqual(plain(migration.apply(fields, micros(5)).get('data') ?? null), { n: 0n })
  assert.deepEqual(plain(migration.apply(fields, micros(10)).get('data') ?? null), { n: 'x' })
  assert.equal(migration.apply(fields, micros(20)), fields)
})

test('a step changes a copy', () => {
  const inner = stored({ b: 1n })
  const fields = new Map<string, Value>([['data', new Map([['a', inner]])]])
  readMigration(timed([{ kind: 'drop', path: ['a', 'b'] }, add('a.c', int, 2n)])).apply(fields, micros(1))
  assert.deepEqual(plain(fields.get('data') ?? null), { a: { b: 1n } })
})

test('types are decoded as they were encoded', () => {
  const types: readonly FieldType[] = [
    anyType,
    nullType,
    int,
    { kind: 'literal', value: 'Any' },
    { kind: 'literal', value: 2.5 },
    { kind: 'array', element: optional(text) },
    { kind: 'tuple', elements: [int, { kind: 'reference', collection: 1024, name: 'Jar' }] },
    { kind: 'object', fields: new Map([['union', { type: int }]]), wildcard: undefined },
    { kind: 'object', fields: new Map(), wildcard: anyType },
  ]
  for (const type of types) assert.deepEqual(readType(storedType(type)), type)
})

test('an index keeps its rows only under the path to which its field moves', () => {
  const index = (...path: readonly string[]) =>
    new Map<string, Value>([['terms', [new Map<string, Value>([['field', path]])]]])
  const pathAfter = (path: readonly string[], ...steps: readonly Step[]) => {
    const terms = indexAfter(index(...path), steps)?.get('terms') as readonly ObjectValue[] | undefined
    return terms?.[0]?.get('field')
  }
  const move: Step = { kind: 'move', from: ['a'], to: ['o', 'b'] }
  assert.deepEqual(pathAfter(['data', 'a'], move), ['data', 'o', 'b'])
  assert.deepEqual(pathAfter(['data', 'a', 'x'], move), ['data', 'o', 'b', 'x'])
  assert.deepEqual(pathAfter(['data', 'z'], move), ['data', 'z'])
  assert.deepEqual(pathAfter(['ts'], move), ['ts'])
  assert.equal(pathAfter(['data', 'o'], move), undefined)
  assert.equal(pathAfter(['data'], move), undefined)
  assert.equal(pathAfter(['data', 'a'], { kind: 'drop', path: ['a', 'x'] }), undefined)
  assert.equal(pathAfter(['data', 'a'], add('a', int, 1n)), undefined)
  assert.equal(pathAfter(['data', 'a'], { kind: 'move wildcard', into: 'c', keep: ['b', 'c'] }), undefined)
  assert.deepEqual(pathAfter(['data', 'a'], { kind: 'move wildcard', into: 'c', keep: ['a', 'c'] }), [
    'data',
    'a',
  ])
  const computed = new Map<string, Value>([['terms', [new Map([['binding', 'x']])]]])
  assert.equal(indexAfter(computed, [move]), undefined)
  assert.equal(indexAfter(computed, []), computed)
})
