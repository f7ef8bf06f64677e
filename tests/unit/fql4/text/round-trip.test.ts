// Printed text can be parsed again: queries give the same query, values a query that evaluates to the value.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { families } from '../../../../src/fql4/functions/registry.ts'
import { parseExpression, printQuery, printValue, valueOfQuery } from '../../../../src/fql4/text/index.ts'
import { parseJson } from '../../../../src/values/json.ts'
import type { Json } from '../../../../src/values/value.ts'
import { writeJson } from '../../../../src/values/write-json.ts'
import { openTestEngine } from '../../../support/engine.ts'
import { exampleRunner } from '../../../support/example-engine.ts'
import { fc } from '../../../support/fast-check.ts'
import { texts } from '../../../support/value-arbitraries.ts'

const object = (fields: Record<string, Json>) => new Map(Object.entries(fields))

const integer = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n),
)
const double = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 1, -1, 1e21, 1e-7, 2 ** 53, 5e-324, Number.MAX_VALUE),
)
const scalar: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(null, true, false),
  integer,
  double,
  texts.map(text => text.toWellFormed()),
)
const name = fc.oneof(
  fc.constantFrom('data', 'a-b', '0', '10', '__proto__', 'if', '', '@x', '@ref'),
  fc.string(),
)

/** A field whose only key begins with @ would be a tag; responses wrap all objects with such a key. */
function plainObject(fields: readonly (readonly [string, Json])[]): Json {
  const map = new Map(fields)
  return [...map.keys()].some(key => key.startsWith('@')) ? object({ '@obj': map }) : map
}

const native = (id: string) => object({ '@ref': object({ id }) })
const named = (holder: string) =>
  fc
    .constantFrom('x', 'a b', 'q"uote')
    .map(id => object({ '@ref': object({ id, collection: native(holder) }) }))
const database = fc.letrec(tie => ({
  ref: fc.oneof(
    { maxDepth: 2 },
    named('databases'),
    tie('ref').map(outer =>
      object({ '@ref': object({ id: 'inner', collection: native('databases'), database: outer as Json }) }),
    ),
  ),
})).ref
const reference: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom('databases', 'collections', 'keys', 'tokens', 'access_providers').map(native),
  named('collections'),
  named('indexes'),
  named('functions'),
  named('roles'),
  named('access_providers'),
  database,
  fc
    .tuple(named('collections'), fc.constantFrom('1', '9223372036854775807'))
    .map(([collection, id]) => object({ '@ref': object({ id, collection }) })),
  fc
    .constantFrom('keys', 'tokens')
    .map(id => object({ '@ref': object({ id: '7', collection: native(id) }) })),
  database.map(scope =>
    object({ '@ref': object({ id: 'x', collection: native('collections'), database: scope as Json }) }),
  ),
)
const lambda = object({ lambda: 'x', expr: object({ add: [object({ var: 'x' }), 1n] }) })
const other: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom('2020-01-01T00:00:00Z', '1970-01-01T00:00:00.000000001Z').map(ts => object({ '@ts': ts })),
  fc.constant(object({ '@date': '2020-02-29' })),
  fc.base64String().map(bytes => object({ '@bytes': bytes })),
  fc.uuid().map(uuid => object({ '@uuid': uuid })),
  fc
    .constantFrom('4', '3', '2.12')
    .map(version => object({ '@query': new Map<string, Json>([['api_version', version], ...lambda]) })),
)
const index = named('indexes')
const set: fc.Arbitrary<Json> = fc.letrec(tie => ({
  set: fc
    .oneof(
      { maxDepth: 2 },
      index.map(match => ({ match })),
      fc.tuple(index, scalar).map(([match, terms]) => ({ match, terms })),
      fc.tuple(index, fc.array(scalar, { minLength: 2 })).map(([match, terms]) => ({ match, terms })),
      named('collections').map(documents => ({ documents })),
      tie('set').map(distinct => ({ distinct: distinct as Json })),
      fc.array(tie('set'), { minLength: 2, maxLength: 3 }).map(union => ({ union: union as Json[] })),
      fc.tuple(tie('set'), index).map(([join, target]) => ({ join: join as Json, with: target })),
      tie('set').map(join => ({
        join: join as Json,
        with: new Map<string, Json>([['api_version', '4'], ...lambda]),
      })),
      tie('set').map(range => ({ range: range as Json, from: 'a', to: [1n, 2n] })),
    )
    .map(body => object({ '@set': object(body as Record<string, Json>) })),
})).set as fc.Arbitrary<Json>

const value: fc.Arbitrary<Json> = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    reference,
    other,
    set,
    fc.array(tie('value'), { maxLength: 4 }) as fc.Arbitrary<Json>,
    fc.array(fc.tuple(name, tie('value') as fc.Arbitrary<Json>), { maxLength: 4 }).map(plainObject),
  ),
})).value as fc.Arbitrary<Json>

const columns = fc.constantFrom(20, 60, 100)

test('a printed value is parsed to the same value', () => {
  fc.assert(
    fc.property(value, columns, (json, columns) => {
      const text = printValue(json, { columns })
      assert.equal(writeJson(valueOfQuery(parseExpression(text).json)), writeJson(json), text)
    }),
    { numRuns: 2000 },
  )
})

/** Queries as sent by drivers: calls of every function, with and without optional arguments. */
const query: fc.Arbitrary<Json> = fc.letrec(tie => {
  const part = tie('query') as fc.Arbitrary<Json>
  const calls = families.flatMap(({ definitions }) =>
    definitions.map(({ keys, arguments: types }) =>
      fc
        .tuple(...keys.map(key => (types[key]?.optional ? fc.option(part, { nil: undefined }) : part)))
        .map(
          parts =>
            new Map(
              keys.map((key, at) => [key, parts[at]] as const).filter(([, json]) => json !== undefined),
            ),
        ),
    ),
  ) as fc.Arbitrary<Json>[]
  const fields = fc.array(fc.tuple(name, part), { maxLength: 3 })
  return {
    query: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      scalar,
      fc.array(part, { maxLength: 3 }) as fc.Arbitrary<Json>,
      fields.map(list => {
        const written = new Map(list)
        const isTag = written.size === 1 && [...written.keys()].every(key => key.startsWith('@'))
        return object({ object: isTag ? object({ '@obj': written }) : written })
      }),
      fc
        .tuple(fields, part)
        .map(([list, body]) => object({ let: list.map(binding => new Map([binding])), in: body })),
      fc
        .tuple(fc.constantFrom<Json>('x', ['a', 'b']), part)
        .map(([lambda, expr]) => object({ lambda, expr })),
      name.map(variable => object({ var: variable })),
      fc.oneof(...calls),
    ),
  }
}).query as fc.Arbitrary<Json>

/** Removes the only difference that text cannot show, between no terms and an empty list of terms or arguments. */
function normal(json: Json): Json {
  if (Array.isArray(json)) return json.map(normal)
  if (!(json instanceof Map)) return json
  const isEmpty = (key: string, part: Json) =>
    (key === 'terms' && json.has('match')) || (key === 'arguments' && json.has('call'))
      ? Array.isArray(part) && part.length === 0
      : false
  return new Map(
    [...json].filter(([key, part]) => !isEmpty(key, part)).map(([key, part]) => [key, normal(part)]),
  )
}

/** Sorts the keys, whose order is irrelevant in calls. */
function sorted(json: Json): Json {
  if (Array.isArray(json)) return json.map(sorted)
  if (!(json instanceof Map)) return json
  return new Map([...json].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, part]) => [key, sorted(part)]))
}

test('a filter in another set needs no tag', () => {
  const filter = '{"filter":{"api_version":"4","lambda":"a","expr":true},"collection":{"@ref":{"id":"keys"}}}'
  const printed = printValue(parseJson(`{"@set":{"distinct":${filter}}}`))
  assert.equal(printed, 'Distinct(Filter(Keys(), Lambda("a", true)))')
})

test('a printed query is parsed to the same query', () => {
  fc.assert(
    fc.property(query, columns, (json, columns) => {
      const text = printQuery(json, { columns })
      const read = parseExpression(text).json
      assert.equal(writeJson(sorted(normal(read))), writeJson(sorted(normal(json))), text)
      assert.equal(printQuery(read, { columns }), text)
    }),
    { numRuns: 2000 },
  )
})

const runExample = exampleRunner()

for (const family of families) {
  for (const definition of family.definitions) {
    const { example, keys, name, until } = definition
    if (until) continue
    test(`the example of ${name} (${keys.join(', ')}) as text`, () =>
      runExample(definition, async ({ engine, secret }) => {
        const [query, answer] = example
        const text = printQuery(parseJson(query))
        const { body } = await engine.send(writeJson(parseExpression(text).json), { secret })
        assert.deepEqual(JSON.parse(body), { resource: JSON.parse(answer) }, text)
      }))
  }
}

test('a printed value evaluates to the value', async () => {
  await using engine = openTestEngine()
  await engine.query({ create_collection: { object: { name: 'x' } } })
  await engine.query({ create_database: { object: { name: 'x' } } })
  await engine.query({ create_role: { object: { name: 'x', privileges: [] } } })
  await engine.query({ create_index: { object: { name: 'x', source: { collection: 'x' } } } })
  const values: readonly string[] = [
    '{"@ref":{"id":"1","collection":{"@ref":{"id":"x","collection":{"@ref":{"id":"collections"}}}}}}',
    '{"@ref":{"id":"x","collection":{"@ref":{"id":"databases"}}}}',
    '{"@ref":{"id":"x","collection":{"@ref":{"id":"roles"}}}}',
    '{"@ref":{"id":"tokens"}}',
    '{"@ref":{"id":"7","collection":{"@ref":{"id":"tokens"}}}}',
    '{"@ts":"2020-01-01T00:00:00.000000001Z"}',
    '{"@date":"2020-02-29"}',
    '{"@bytes":"AQID"}',
    '{"@uuid":"00000000-0000-4000-8000-000000000001"}',
    '[1,1.0,-0.0,9223372036854775807,-9223372036854775808,"a\\"b\\n",null,true]',
    '{"@obj":{"@ref":1}}',
    '{"@obj":{"@a":1,"b":{"c":[]}}}',
    '{"@query":{"api_version":"4","lambda":["a","b"],"expr":{"add":[{"var":"a"},{"var":"b"}]}}}',
    '{"@query":{"api_version":"3","lambda":"a","expr":{"contains":["x"],"in":{"var":"a"}}}}',
    '{"@set":{"match":{"@ref":{"id":"x","collection":{"@ref":{"id":"indexes"}}}},"terms":["a",{"b":1}]}}',
    '{"@set":{"events":{"match":{"@ref":{"id":"x","collection":{"@ref":{"id":"indexes"}}}}}}}',
    '{"@set":{"filter":{"api_version":"4","lambda":"a","expr":true},"collection":{"@ref":{"id":"keys"}}}}',
  ]
  for (const json of values) {
    const text = printValue(parseJson(json))
    const { body } = await engine.send(writeJson(parseExpression(text).json))
    assert.equal(body, `{"resource":${json}}`, text)
  }
})
