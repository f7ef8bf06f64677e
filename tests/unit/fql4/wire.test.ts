// Values in responses, in the spelling of every version.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '../../../src/base/limits.ts'
import { micros } from '../../../src/base/micros.ts'
import { RequestError } from '../../../src/base/request-errors.ts'
import {
  Action,
  type Cursor,
  ElementWithSources,
  EventValue,
  Page,
  type SetLike,
  type SetShape,
  SetValue,
} from '../../../src/fql4/values/transient.ts'
import type { RefNames } from '../../../src/fql4/wire/refs.ts'
import { type RenderContext, renderValue } from '../../../src/fql4/wire/render.ts'
import { type ApiVersion, apiVersions, isApiVersion, isAtLeast } from '../../../src/fql4/wire/version.ts'
import { parseJson } from '../../../src/values/json.ts'
import {
  DocumentValue,
  Lambda,
  LocalDate,
  native,
  Ref,
  rootDatabase,
  Time,
  TransactionTime,
  UnresolvedRef,
  Uuid,
  type Value,
} from '../../../src/values/value.ts'
import { fc } from '../../support/fast-check.ts'

const home = 5n
const child = 6n
const grandchild = 7n
const forgotten = 8n

const spells = new Ref(home, native.collections, 1024n)
const byName = new Ref(home, native.indexes, 32_768n)
const fire = new Ref(home, 1024, 181_388_642_046_968_320n)
const nameless = new Ref(home, native.indexes, 40_000n)

/** `home` holds `child`, which holds `grandchild`; each has a collection 1024 called spells. */
const names: RefNames = {
  scope: home,
  nameOf(ref) {
    if (ref.collection === native.collections && ref.id === 1024n) return 'spells'
    if (ref.collection === native.indexes && ref.id === 32_768n) return 'by_"name"'
    if (ref.collection === native.roles) return 'editor'
    if (ref.collection === native.databases) return ref.id === child ? 'child' : 'grandchild'
    return undefined
  },
  databaseDocument(database) {
    if (database === child) return new Ref(home, native.databases, child)
    return database === grandchild ? new Ref(child, native.databases, grandchild) : undefined
  },
}

function render(
  value: Value,
  apiVersion: ApiVersion = '4',
  more: Partial<RenderContext> = {},
): string | undefined {
  return renderValue(value, { apiVersion, names, ...more })
}

function object(fields: Record<string, Value>): ReadonlyMap<string, Value> {
  return new Map(Object.entries(fields))
}

function nativeRef(collection: number, database = home): Ref {
  return new Ref(database, native.collections, BigInt(collection))
}

const spellsText = '{"@ref":{"id":"spells","collection":{"@ref":{"id":"collections"}}}}'
const fireText = `{"@ref":{"id":"181388642046968320","collection":${spellsText}}}`
const byNameText = '{"@ref":{"id":"by_\\"name\\"","collection":{"@ref":{"id":"indexes"}}}}'
const childField = '"database":{"@ref":{"id":"child","collection":{"@ref":{"id":"databases"}}}}'

describe('plain values', () => {
  const table: readonly [string, Value, string][] = [
    ['null', null, 'null'],
    ['true', true, 'true'],
    ['an integer', -(2n ** 63n), '-9223372036854775808'],
    ['a double', 100, '100.0'],
    ['a large double', 1e10, '1.0E10'],
    ['negative zero', -0, '-0.0'],
    ['not a number', Number.NaN, '"NaN"'],
    ['infinity', Number.NEGATIVE_INFINITY, '"-Infinity"'],
    ['bytes', Uint8Array.from([251, 255, 191, 1]), '{"@bytes":"+/+/AQ=="}'],
    ['a time', new Time(1n, 1_000_000), '{"@ts":"1970-01-01T00:00:01.001Z"}'],
    ['a date', new LocalDate(1), '{"@date":"1970-01-02"}'],
    [
      'a UUID',
      new Uuid('00000001-0001-0001-0001-000000000001'),
      '{"@uuid":"00000001-0001-0001-0001-000000000001"}',
    ],
    ['an action', new Action('update'), '"update"'],
    ['an array', [1n, [], null], '[1,[],null]'],
    ['an object', object({ b: null, '2': 1n, a: object({}) }), '{"2":1,"b":null,"a":{}}'],
    ['a key with @', object({ '@foo': 1n, b: 2n }), '{"@obj":{"@foo":1,"b":2}}'],
    ['a key with @ inside', object({ a: object({ '@x': 1n }) }), '{"a":{"@obj":{"@x":1}}}'],
    [
      'a stored set',
      object({ '@set': object({ documents: spells }) }),
      `{"@obj":{"@set":{"documents":${spellsText}}}}`,
    ],
    ['a key with a quote', object({ 'a"': 1n }), '{"a\\"":1}'],
  ]
  for (const [name, value, text] of table) test(name, () => assert.equal(render(value), text))

  const strings: readonly [string, string][] = [
    ['', '""'],
    ['"\\/', '"\\"\\\\/"'],
    ['\b\t\n\f\r', '"\\b\\t\\n\\f\\r"'],
    ['\u0000\u001f', '"\\u0000\\u001f"'],
    ['\u007f\u2028é😀', '"\u007f\u2028é😀"'],
    ['\ud800', '"?"'],
    ['a\udc00b\ud83d😀', '"a?b?😀"'],
    [`${'x'.repeat(100)}"\ud800`, `"${'x'.repeat(100)}\\"?"`],
    ['\ufffd', '"\ufffd"'],
  ]
  for (const [value, text] of strings) {
    test(`the string ${JSON.stringify(value).slice(0, 30)}`, () => {
      assert.equal(render(value), text)
      assert.equal(render(object({ [value]: null })), `{${text}:null}`)
    })
  }

  test('keep their source order and survive the wire', () => {
    const wellFormed = fc.string({ unit: 'grapheme' })
    const { json } = fc.letrec<{ json: Value }>(tie => ({
      json: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, false),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        wellFormed,
        fc.array(tie('json')),
        fc
          .array(
            fc.tuple(
              wellFormed.filter(key => !key.startsWith('@')),
              tie('json'),
            ),
          )
          .map(entries => new Map(entries)),
      ),
    }))
    fc.assert(fc.property(json, value => assert.deepEqual(parseJson(render(value) ?? ''), value)))
  })
})

describe('references', () => {
  const grandchildField = `"database":{"@ref":{"id":"grandchild","collection":{"@ref":{"id":"databases"}},${childField}}}`
  const table: readonly [string, Ref, string][] = [
    ['native collection', nativeRef(native.collections), '{"@ref":{"id":"collections"}}'],
    ['native collection of the root', nativeRef(native.keys, rootDatabase), '{"@ref":{"id":"keys"}}'],
    ['native collection of a child', nativeRef(native.roles, child), `{"@ref":{"id":"roles",${childField}}}`],
    ['collection', spells, spellsText],
    ['index', byName, byNameText],
    [
      'role',
      new Ref(home, native.roles, 1n),
      '{"@ref":{"id":"editor","collection":{"@ref":{"id":"roles"}}}}',
    ],
    ['document', fire, fireText],
    [
      'document with a negative id',
      new Ref(home, 1024, -1n),
      `{"@ref":{"id":"-1","collection":${spellsText}}}`,
    ],
    ['key', new Ref(home, native.keys, 9n), '{"@ref":{"id":"9","collection":{"@ref":{"id":"keys"}}}}'],
    [
      'collection of a grandchild',
      new Ref(grandchild, native.collections, 1024n),
      `{"@ref":{"id":"spells","collection":{"@ref":{"id":"collections"}},${grandchildField}}}`,
    ],
    [
      'document of a child',
      new Ref(child, 1024, 1n),
      `{"@ref":{"id":"1","collection":{"@ref":{"id":"spells","collection":{"@ref":{"id":"collections"}},${childField}}}}}`,
    ],
    [
      'token of a child',
      new Ref(child, native.tokens, 9n),
      `{"@ref":{"id":"9","collection":{"@ref":{"id":"tokens",${childField}}}}}`,
    ],
  ]
  for (const [name, ref, text] of table) test(name, () => assert.equal(render(ref), text))

  test('have the name class before version 2.7', () => {
    assert.equal(
      render(fire, '2.1'),
      '{"@ref":{"id":"181388642046968320","class":{"@ref":{"id":"spells","class":{"@ref":{"id":"classes"}}}}}}',
    )
    assert.equal(render(nativeRef(native.collections), '2.1'), '{"@ref":{"id":"classes"}}')
    assert.equal(render(fire, '2.7'), fireText)
  })

  test('are paths in version 2.0', () => {
    const paths = [nativeRef(2), nativeRef(3), spells, byName, fire, new Ref(home, native.tokens, 9n)]
    assert.deepEqual(
      paths.map(ref => render(ref, '2.0')),
      [
        'classes',
        'indexes',
        'classes/spells',
        'indexes/by_\\"name\\"',
        'classes/spells/181388642046968320',
        'tokens/9',
      ].map(path => `{"@ref":"${path}"}`),
    )
    assert.equal(render(nameless, '2.0'), undefined)
  })
})

describe('unresolved references', () => {
  const childRef = new Ref(home, native.databases, child)
  const lost = new UnresolvedRef({ type: 'database', name: 'lost' })
  const lostText = '{"@ref":{"id":"lost","collection":{"@ref":{"id":"databases"}}}}'
  const none = new UnresolvedRef({ type: 'collection', name: 'none' })
  const noneText = '{"@ref":{"id":"none","collection":{"@ref":{"id":"collections"}}}}'
  const unresolved: readonly [UnresolvedRef, string, string][] = [
    [none, noneText, 'classes/none'],
    [
      new UnresolvedRef({ type: 'access_provider', name: 'a', scope: childRef }),
      `{"@ref":{"id":"a","collection":{"@ref":{"id":"access_providers"}},${childField}}}`,
      'access_providers/a',
    ],
    [
      new UnresolvedRef({ type: 'index', name: 'i', scope: lost }),
      `{"@ref":{"id":"i","collection":{"@ref":{"id":"indexes"}},"database":${lostText}}}`,
      'indexes/i',
    ],
    [
      new UnresolvedRef({ type: 'key', id: 9n, scope: lost }),
      `{"@ref":{"id":"9","collection":{"@ref":{"id":"keys","database":${lostText}}}}}`,
      'keys/9',
    ],
    [
      new UnresolvedRef({ type: 'native', name: 'roles', scope: lost }),
      `{"@ref":{"id":"roles","database":${lostText}}}`,
      'roles',
    ],
    [
      new UnresolvedRef({ type: 'document', id: 1n, collection: none }),
      `{"@ref":{"id":"1","collection":${noneText}}}`,
      'classes/none/1',
    ],
  ]
  for (const [ref, text, path] of unresolved) {
    test(`to nothing: ${path}`, () => {
      assert.equal(render(ref), text)
      assert.equal(render(ref, '2.0'), `{"@ref":"${path}"}`)
      const old = text.replaceAll('"collection"', '"class"').replaceAll('"collections"', '"classes"')
      assert.equal(render(ref, '2.1'), old)
    })
  }
})

describe('values that cannot be printed', () => {
  const set = new SetValue({ type: 'match', index: nameless, terms: [] })
  const lostDocument = new Ref(home, 2000, 1n)
  for (const [name, value] of Object.entries({
    'a reference': nameless,
    'a document of a nameless collection': lostDocument,
    'a reference into a forgotten database': new Ref(forgotten, native.keys, 1n),
    'a set': set,
    'a union with such a set': new SetValue({ type: 'union', sets: [spells, set] }),
  })) {
    test(`${name} is left out`, () => {
      assert.equal(render(value), undefined)
      assert.equal(render([1n, value, 2n]), '[1,2]')
      assert.equal(render(object({ a: value, b: 1n })), '{"b":1}')
      assert.equal(render(object({ a: value })), '{}')
    })
  }
  test('a cursor with such a part is null', () => {
    const cursor: Cursor = { type: 'values', values: [1n, nameless] }
    assert.equal(render(new Page([nameless, 1n], cursor, undefined)), '{"before":null,"data":[1]}')
  })
  test('a document keeps the rest', () => {
    const rest = render(new DocumentValue(lostDocument, micros(5), object({ data: object({}) })))
    assert.equal(rest, '{"ts":5,"data":{}}')
  })
})

describe('documents', () => {
  const document = new DocumentValue(
    fire,
    micros(1_700_000_000_200_000),
    object({ data: object({ name: 'Fire' }), ttl: new Time(0n, 0) }),
  )
  const rest = '"ts":1700000000200000,"data":{"name":"Fire"},"ttl":{"@ts":"1970-01-01T00:00:00Z"}'

  test('show ref, ts and their fields', () => {
    assert.equal(render(document), `{"ref":${fireText},${rest}}`)
    assert.equal(render(new DocumentValue(fire, micros(1), object({}))), `{"ref":${fireText},"ts":1}`)
  })

  test('have a class in version 2.0', () => {
    assert.equal(
      render(document, '2.0'),
      `{"ref":{"@ref":"classes/spells/181388642046968320"},"class":{"@ref":"classes/spells"},${rest}}`,
    )
  })

  test('show the time of their transaction once it is known', () => {
    const fresh = new DocumentValue(fire, TransactionTime.micros, object({ at: TransactionTime.time }), true)
    assert.equal(
      render(fresh, '4', { transactionTime: micros(1_000_001) }),
      `{"ref":${fireText},"ts":1000001,"at":{"@ts":"1970-01-01T00:00:01.000001Z"}}`,
    )
    assert.equal(render(fresh), `{"ref":${fireText}}`)
  })

  for (const written of ['class', 'collection']) {
    test(`of indexes spell ${written} in their source as the client does`, () => {
      const part = object({ [written]: spells, fields: object({ class: 1n }) })
      const inArray = new DocumentValue(
        byName,
        micros(1),
        object({ name: 'x', source: [part, part], class: 2n }),
      )
      const alone = new DocumentValue(byName, micros(1), object({ source: part }))
      const partText = `{"collection":${spellsText},"fields":{"class":1}}`
      assert.equal(
        render(inArray),
        `{"ref":${byNameText},"ts":1,"name":"x","source":[${partText},${partText}],"class":2}`,
      )
      assert.equal(render(alone), `{"ref":${byNameText},"ts":1,"source":${partText}}`)
      assert.match(render(alone, '2.1') ?? '', /"source":\{"class":\{"@ref":/)
    })
  }
  test('of indexes may have a plain source', () => {
    const index = render(new DocumentValue(byName, micros(1), object({ source: spells })))
    assert.equal(index, `{"ref":${byNameText},"ts":1,"source":${spellsText}}`)
  })
})

describe('pages and events', () => {
  const created = new EventValue(micros(7), 'create', fire, object({ data: object({ a: null }), ttl: 1n }))
  const deleted = new EventValue(micros(8), 'delete', fire, null)
  const added = new EventValue(micros(9), 'add', fire, null, ['x', 1n])
  const removed = new EventValue(micros(9), 'remove', fire, null, [])
  const cursor = (event: EventValue): Cursor => ({ type: 'event', event })

  test('a page', () => {
    const page = new Page([1n], { type: 'values', values: [1n, fire] }, { type: 'values', values: [] })
    assert.equal(render(page), `{"before":[1,${fireText}],"after":[],"data":[1]}`)
    assert.equal(render(new Page([], undefined, undefined)), '{"data":[]}')
  })

  test('events', () => {
    assert.equal(render(created), `{"ts":7,"action":"create","document":${fireText},"data":{"a":null}}`)
    assert.equal(render(deleted), `{"ts":8,"action":"delete","document":${fireText},"data":null}`)
    assert.equal(render(added), `{"ts":9,"action":"add","document":${fireText},"data":["x",1]}`)
    assert.equal(render(removed), `{"ts":9,"action":"remove","document":${fireText}}`)
  })

  test('event cursors have no data of documents', () => {
    const page = new Page([], cursor(created), cursor(added))
    assert.equal(
      render(page),
      `{"before":{"ts":7,"action":"create","document":${fireText}},"after":{"ts":9,"action":"add","document":${fireText},"data":["x",1]},"data":[]}`,
    )
    const bare = new Page([], undefined, cursor(new EventValue(micros(3), 'create', undefined, null)))
    assert.equal(render(bare), '{"after":{"ts":3,"action":"create"},"data":[]}')
  })

  test('older versions have other names for the document and the actions', () => {
    assert.match(render(created, '2.1') ?? '', /^\{"ts":7,"action":"create","instance":\{/)
    assert.match(render(added, '2.1') ?? '', /"data":\["x",1\]\}$/)
    const path = '{"@ref":"classes/spells/181388642046968320"}'
    assert.equal(render(added, '2.0'), `{"ts":9,"action":"create","resource":${path},"values":["x",1]}`)
    assert.equal(render(removed, '2.0'), `{"ts":9,"action":"delete","resource":${path}}`)
    assert.equal(render(new Action('update'), '2.0'), '"create"')
  })

  test('elements with their sources', () => {
    const source = new SetValue({ type: 'documents', collection: spells })
    assert.equal(
      render(new ElementWithSources(fire, [source])),
      `{"value":${fireText},"sources":[{"@set":{"documents":${spellsText}}}]}`,
    )
  })
})

describe('sets and lambdas', () => {
  const lambda = new Lambda(
    '4',
    'i',
    object({ if: true, then: object({ '@ref': 'x' }), else: fire, list: [1n, 1] }),
  )
  const code = `"lambda":"i","expr":{"if":true,"then":{"@ref":"x"},"else":${fireText},"list":[1,1.0]}`
  const inner = new SetValue({ type: 'match', index: byName, terms: ['x'] })
  const innerBody = `{"match":${byNameText},"terms":"x"}`
  const innerText = `{"@set":${innerBody}}`

  const table: readonly [SetShape, string][] = [
    [{ type: 'match', index: byName, terms: [] }, `{"match":${byNameText}}`],
    [{ type: 'match', index: byName, terms: ['a', 1n] }, `{"match":${byNameText},"terms":["a",1]}`],
    [{ type: 'match', index: byName, terms: [[1n, 2n]] }, `{"match":${byNameText},"terms":[[1,2]]}`],
    [{ type: 'documents', collection: spells }, `{"documents":${spellsText}}`],
    [{ type: 'singleton', ref: fire }, `{"singleton":${fireText}}`],
    [{ type: 'events', source: inner }, `{"events":${innerBody}}`],
    [{ type: 'events', source: fire }, `{"events":${fireText}}`],
    [{ type: 'union', sets: [inner] }, `{"union":${innerText}}`],
    [
      { type: 'intersection', sets: [inner, nativeRef(3)] },
      `{"intersection":[${innerText},{"@ref":{"id":"indexes"}}]}`,
    ],
    [{ type: 'difference', sets: [inner, fire] }, `{"difference":[${innerText},${fireText}]}`],
    [{ type: 'distinct', source: inner }, `{"distinct":${innerText}}`],
    [{ type: 'reverse', source: inner }, `{"reverse":${innerText}}`],
    [
      { type: 'range', source: inner, from: [3n], to: [6n, 'x'] },
      `{"range":${innerText},"from":3,"to":[6,"x"]}`,
    ],
    [{ type: 'range', source: inner, from: [], to: [null] }, `{"range":${innerText},"from":[],"to":null}`],
    [{ type: 'join', source: inner, with: byName }, `{"join":${innerText},"with":${byNameText}}`],
    [
      { type: 'join', source: inner, with: lambda },
      `{"join":${innerText},"with":{"api_version":"4",${code}}}`,
    ],
    [
      { type: 'filter', source: inner, lambda },
      `{"filter":{"api_version":"4",${code}},"collection":${innerText}}`,
    ],
  ]
  for (const [shape, text] of table) {
    test(text.slice(0, 60), () => assert.equal(render(new SetValue(shape)), `{"@set":${text}}`))
  }

  const versions: readonly [string, ApiVersion, boolean][] = [
    ['4', '4', true],
    ['2.12', '4', true],
    ['3', '2.12', true],
    ['4', '2.0', true],
    ['2.12', '2.12', false],
    ['2.12', '2.1', false],
    ['2.12', 'UNSTABLE', true],
  ]
  for (const [made, read, tagged] of versions) {
    test(`a lambda of version ${made} read under ${read}`, () => {
      const version = tagged ? `"api_version":"${made}",` : ''
      const text = `{"@query":{${version}"lambda":["a","_"],"expr":null}}`
      assert.equal(render(new Lambda(made, ['a', '_'], null), read), text)
    })
  }
})

describe('values nested deeply', () => {
  /** Adds one level, or two for values that nest in each other. */
  const wraps: readonly [string, number, (value: Value) => Value][] = [
    ['arrays', 1, value => [value]],
    ['objects', 1, value => object({ a: value })],
    ['sets', 1, value => new SetValue({ type: 'union', sets: [value as SetLike] })],
    ['cursors', 1, value => new Page([], { type: 'values', values: [value] }, undefined)],
    ['elements', 1, value => new ElementWithSources(value, [])],
    ['lambdas', 2, value => new Lambda('4', 'x', object({ a: value }))],
    ['code', 1, value => new Lambda('4', 'x', value instanceof Lambda ? [value.body] : value)],
  ]
  for (const [name, levels, wrap] of wraps) {
    test(`${name} print up to the limit and are rejected beyond it`, () => {
      let value: Value = spells
      for (let level = 1; level < limits.valueDepthMax; level += levels) value = wrap(value)
      assert.notEqual(render(value), undefined)
      for (let level = 0; level < 100_000; level++) value = wrap(value)
      assert.throws(() => render(value), RequestError)
    })
  }
})

describe('versions', () => {
  test('have an order', () => {
    for (const [index, version] of apiVersions.entries()) {
      assert.ok(isApiVersion(version))
      for (const [other, minimum] of apiVersions.entries())
        assert.equal(isAtLeast(version, minimum), index >= other)
    }
    assert.equal(isApiVersion('6'), false)
    assert.equal(isAtLeast('6', '2.0'), false)
  })
})
