// Collection definitions: the error messages of invalid ones, and the stored form of valid ones.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDefinition } from '../../../../src/fql10/schema/collection-definition.ts'
import type { ObjectValue, Value } from '../../../../src/values/value.ts'

/** Converts a literal to a stored value. */
function stored(value: unknown): Value {
  if (Array.isArray(value)) return value.map(stored)
  if (typeof value === 'number') return BigInt(value)
  if (typeof value !== 'object' || value === null) return value as string
  return new Map(Object.entries(value).map(([name, each]) => [name, stored(each)]))
}

const definitionOf = (value: object) => stored({ name: 'Jar', ...value }) as ObjectValue

function failuresOf(value: object, previous?: object): readonly string[] {
  const before = previous && definitionOf(previous)
  const { failures } = checkDefinition(definitionOf(value), before, name =>
    name === 'Urn' ? 'A Collection already exists with the name `Urn`' : undefined,
  )
  return failures.map(({ message, paths }) => `${paths.map(path => path.join('/')).join()}: ${message}`)
}

test('errors in the shape name the types, and hide errors of the content', () => {
  assert.deepEqual(
    failuresOf({ name: 3, data: 'x', history_days: 'x', colour: 1, fields: { a: { signature: 1 } } }),
    [
      'name: Expected String, provided Int',
      'data: Expected { *: Any } | Null, provided String',
      'history_days: Expected Long | Null, provided String',
      'colour: Unexpected field provided',
      'fields/a/signature: Expected String, provided Int',
    ],
  )
  assert.deepEqual(failuresOf({ constraints: [{ uniqu: ['a'] }] }), [
    'constraints/0/uniqu: Unexpected field provided',
    'constraints/0: Union requires fields [check] or [unique]',
  ])
})

test('names must be valid and free; unchanged names remain valid', () => {
  assert.deepEqual(failuresOf({ name: 'Int' }), ['name: The identifier `Int` is reserved.'])
  assert.deepEqual(failuresOf({ name: 'if' }), ['name: The identifier `if` is reserved.'])
  assert.deepEqual(failuresOf({ name: 'a b', alias: '3' }), [
    'name: Invalid identifier.',
    'alias: Invalid identifier.',
  ])
  assert.deepEqual(failuresOf({ name: 'Urn' }), ['name: A Collection already exists with the name `Urn`'])
  assert.deepEqual(failuresOf({ name: 'a b' }, { name: 'a b' }), [])
  assert.deepEqual(failuresOf({ indexes: { all: { terms: [] }, 'a b': { terms: [] } } }), [
    "indexes: The name 'all' is reserved.",
    'indexes: Invalid identifier.',
  ])
})

test('code in definitions must parse', () => {
  assert.deepEqual(failuresOf({ computed_fields: { f: { body: '(a, b) => 1' } } }), [
    'computed_fields/f/body: Invalid function arity. Expected exactly 1 argument, but the function was defined with 2 arguments',
  ])
  assert.match(
    failuresOf({ fields: { n: { signature: '^.^' } } })[0] ?? '',
    /^fields\/n\/signature: Failed parsing user-provided signature\.\nerror: Expected type\nat \*signature\*:1:1\n/,
  )
  assert.match(
    failuresOf({ computed_fields: { f: { body: '.a' } } })[0] ?? '',
    /Unable to parse FQL source code\.\nerror: Invalid anonymous field access\nat \*body\*:1:1/,
  )
  assert.deepEqual(failuresOf({ computed_fields: { f: { body: '(.a + 1)' } } }), [])
})

test('paths of indexes must be valid', () => {
  assert.deepEqual(
    failuresOf({ indexes: { byX: { terms: [{ field: 'id' }, { field: 'a..b' }, { field: '' }] } } }),
    [
      'indexes/byX/terms/0/field: `id` is not supported as an index term, use the native byId method to look up a document by its id.',
      'indexes/byX/terms/1/field: Value `a..b` is not a valid FQL path expression.',
      'indexes/byX/terms/2/field: Value cannot be empty.',
    ],
  )
})

test('conflicts between parts are reported once all parts are valid', () => {
  const check = { check: { name: 'ok', body: 'd => true' } }
  assert.deepEqual(
    failuresOf({
      constraints: [{ unique: [] }, { unique: ['a.b'] }, { unique: [{ field: '.a["b"]' }] }, check, check],
      fields: { f: { signature: 'Int' } },
      computed_fields: { f: { body: 'd => 1' } },
    }),
    [
      "constraints: Duplicate check constraint name 'ok'",
      'constraints: Unique constraints must have at least one term',
      'constraints: Duplicate unique constraint on path [.a.b]',
      "computed_fields: Computed field 'f' collides with a defined field",
    ],
  )
})

test('stored definitions have a canonical spelling and no status', () => {
  const given = {
    indexes: {
      byX: { values: [{ field: 'a' }, { field: 'b', order: 'desc', mva: true }], status: 'complete' },
    },
    constraints: [
      { check: { name: 'ok', body: 'd => true' } },
      { unique: [{ field: 'a' }], status: 'active' },
    ],
  }
  const { definition, failures } = checkDefinition(definitionOf(given), definitionOf(given), () => undefined)
  assert.deepEqual(failures, [])
  assert.deepEqual(
    definition,
    definitionOf({
      indexes: {
        byX: {
          values: [
            { field: 'a', order: 'asc' },
            { field: 'b', order: 'desc', mva: true },
          ],
        },
      },
      constraints: [{ unique: ['a'] }, { check: { name: 'ok', body: 'd => true' } }],
    }),
  )
  assert.deepEqual(failuresOf({ indexes: { byX: { terms: [], status: 'complete' } } }), [
    'indexes/byX/status: Failed to update field because it is readonly',
  ])
})
