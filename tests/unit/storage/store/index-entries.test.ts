// The entries a version of a document has in an index, case by case.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import { type IndexDefinition, indexDefinition } from '../../../../src/storage/store/index-definition.ts'
import { entryTuples } from '../../../../src/storage/store/index-entries.ts'
import type { Version } from '../../../../src/storage/store/store-contract.ts'
import { Lambda, native, Ref, rootDatabase, type Value } from '../../../../src/values/value.ts'
import { collectionRef, data, documentRef, field, object } from './support.ts'

const items = collectionRef(1024)

function index(fields: Record<string, Value>): IndexDefinition {
  const ref = new Ref(rootDatabase, native.indexes, 32_768n)
  return indexDefinition({ ref, fields: object({ name: 'i', source: items, ...fields }) })
}

function version(fields: Record<string, Value>): Version {
  return { ref: documentRef(items, 1), ts: micros(5), action: 'create', fields: data(fields) }
}

function tuples(definition: IndexDefinition, fields: Record<string, Value>, bound?: Value): string[] {
  const hooks = { evaluateBinding: () => bound }
  const found = entryTuples(definition, version(fields), hooks)
  const text = (value: Value): string =>
    value instanceof Ref ? `#${value.id}` : Array.isArray(value) ? `[${value.map(text)}]` : String(value)
  return found.map(({ terms, values }) => `${terms.map(text)}|${values.map(text)}`)
}

const a = field('a')
const b = field('b')

/** An index that is part of the definition of a collection. */
const own = (fields: Record<string, Value>) => index({ collection_index: true, ...fields })
const computed = (within: readonly Value[], mva: boolean) => object({ binding: 'full', within, mva })

const cases: readonly [
  name: string,
  index: IndexDefinition,
  fields: Record<string, Value>,
  entries: string[],
][] = [
  ['nothing declared: one entry', index({}), {}, ['|']],
  ['null values stay in an index of a definition', own({ terms: [a], values: [b] }), { a: 1n }, ['1|null']],
  ['without terms, too', own({ values: [b] }), {}, ['|null']],
  ['null terms drop the entry in it, too', own({ terms: [a], values: [b] }), { b: 1n }, []],
  ['null terms drop the entry', index({ terms: [a] }), {}, []],
  ['partly null terms stay', index({ terms: [a, b] }), { a: 1n }, ['1,null|']],
  ['null values drop the entry', index({ terms: [a], values: [b] }), { a: 1n }, []],
  ['partly null values stay', index({ values: [a, b] }), { b: 2n }, ['|null,2']],
  ['an empty array counts as null', index({ terms: [a] }), { a: [] }, []],
  ['an object counts as null', index({ terms: [a] }), { a: object({ x: 1n }) }, []],
  [
    'arrays are flattened, duplicates dropped',
    index({ terms: [a] }),
    { a: [1n, [2n, [1n]], 3n] },
    ['1|', '2|', '3|'],
  ],
  [
    'every combination',
    index({ terms: [a], values: [b] }),
    { a: [1n, 2n], b: [3n, 4n] },
    ['1|3', '1|4', '2|3', '2|4'],
  ],
  [
    'names reach through arrays',
    index({ terms: [field('a.x')] }),
    { a: [object({ x: 1n }), object({ x: 2n })] },
    ['1|', '2|'],
  ],
  [
    'numbers reach into arrays',
    index({ terms: [object({ field: ['data', 'a', 1n] })] }),
    { a: [7n, 8n] },
    ['8|'],
  ],
  [
    'mva false keeps an array whole',
    index({ terms: [field('a', { mva: false })] }),
    { a: [1n, 2n] },
    ['[1,2]|'],
  ],
  [
    'casefold changes only strings',
    index({ terms: [field('a', { transform: 'casefold' })] }),
    { a: ['ÄB', 1n] },
    ['äb|', '1|'],
  ],
  ['ts is null as a term', index({ terms: [object({ field: 'ts' }), a] }), { a: 1n }, ['null,1|']],
  ['ts is the time as a value', index({ values: [object({ field: 'ts' })] }), {}, ['|5']],
  [
    'ref and collection',
    index({ terms: [object({ field: 'collection' })], values: [object({ field: 'ref' })] }),
    {},
    ['#1024|#1'],
  ],
]

for (const [name, definition, fields, entries] of cases) {
  test(`entries: ${name}`, () => assert.deepEqual(tuples(definition, fields), entries))
}

const lambda = new Lambda('4', 'doc', object({ var: 'doc' }))
const source = object({ collection: items, fields: object({ made: lambda }) })
const made = object({ binding: 'made' })

test('entries: computed fields give one value per element, nothing for objects and failures', () => {
  const definition = index({ source, terms: [made] })
  assert.deepEqual(tuples(definition, {}, 7n), ['7|'])
  assert.deepEqual(tuples(definition, {}, [1n, object({}), 1n]), ['1|'])
  assert.deepEqual(tuples(definition, {}, object({})), [])
  assert.deepEqual(tuples(definition, {}, undefined), [])
  assert.deepEqual(tuples(index({ source, terms: [object({ binding: 'other' })] }), {}, 7n), [])
})

test('entries: a collection has its own computed fields before those of the wildcard', () => {
  const every = object({ collection: '_', fields: object({ other: lambda }) })
  const definition = index({ source: [every, source], terms: [made] })
  assert.deepEqual(tuples(definition, {}, 7n), ['7|'])
})

test('entries: too many combinations are rejected', () => {
  const many = Array.from({ length: 400 }, (_, number) => BigInt(number))
  const definition = index({ terms: [a, b] })
  assert.throws(() => tuples(definition, { a: many, b: many }), { code: 'bad request' })
})

test('a computed field is indexed as a whole, by its elements, or at a path within it', () => {
  const names = object({ names: ['x', ['y', 'x']], first: 'x' })
  const terms = (within: readonly Value[], mva: boolean) =>
    tuples(own({ terms: [computed(within, mva)], source: bound }), {}, names)
  const bound = object({ collection: items, fields: object({ full: 'd => d' }) })
  assert.deepEqual(terms(['first'], false), ['x|'])
  assert.deepEqual(terms(['names'], false), ['[x,[y,x]]|'])
  assert.deepEqual(terms(['names'], true), ['x|', 'y|'])
  assert.deepEqual(terms(['names', 1n], true), ['y|', 'x|'])
  assert.deepEqual(terms(['last'], false), [])
})
