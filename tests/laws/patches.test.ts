// Updates merge objects, and replaces replace everything, in both languages. Null removes a field; arrays and scalars are
// replaced as a whole. All writes are compared with a model of plain objects, and with each other.

import assert from 'node:assert/strict'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import { type LawDatabase, law } from './law.ts'

const server = serverOfFile()

type Data = number | null | readonly Data[] | Fields
type Fields = { readonly [name: string]: Data }

function objectsOf(...names: readonly string[]): fc.Arbitrary<Fields> {
  return fc.letrec<{ data: Data; object: Fields }>(tie => ({
    data: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      fc.integer({ min: 0, max: 3 }),
      fc.constant(null),
      fc.array(tie('data'), { maxLength: 2 }),
      tie('object'),
    ),
    object: fc.dictionary(fc.constantFrom(...names), tie('data'), { maxKeys: 3 }),
  })).object
}

const objects = objectsOf('a', 'b', 'c')

const isObject = (data: Data | undefined): data is Fields =>
  typeof data === 'object' && data !== null && !Array.isArray(data)

/** The stored form of a value: objects have no fields that are null. Version 4 also removes nulls from arrays. */
function stored(data: Data, is4: boolean): Data {
  if (Array.isArray(data)) {
    const elements = data.filter(each => !is4 || each !== null)
    return elements.map((each: Data) => stored(each, is4))
  }
  if (!isObject(data)) return data
  const fields = Object.entries(data).filter(([, value]) => value !== null)
  return Object.fromEntries(fields.map(([name, value]) => [name, stored(value, is4)]))
}

/** The stored form after an update: objects are merged, everything else is replaced, and null removes a field. */
function merged(old: Data | undefined, update: Data, is4: boolean): Data {
  if (!isObject(old) || !isObject(update)) return stored(update, is4)
  const result = { ...old }
  for (const [name, value] of Object.entries(update)) {
    if (value === null) delete result[name]
    else result[name] = merged(old[name], value, is4)
  }
  return result
}

/** A value as an expression of version 4. */
function expression4(data: Data): unknown {
  if (Array.isArray(data)) return data.map(expression4)
  if (!isObject(data)) return data
  return {
    object: Object.fromEntries(Object.entries(data).map(([name, value]) => [name, expression4(value)])),
  }
}

/** How a document is written: by version 4, or by a method of version 10, `update` or `updateData`. */
type Door = 'version 4' | 'own' | 'plain'
const doors = fc.constantFrom<Door>('version 4', 'own', 'plain')

type Kind = 'update' | 'replace'

interface Write {
  readonly kind: Kind
  readonly data: Fields
  /** The time of removal, or null for no such time. Undefined if the write does not mention it. */
  readonly ttl?: string | null | undefined
}

const refOf = (id: string) => ({ ref: { collection: 'C' }, id })

function expressionOf(id: string, { data, kind, ttl }: Write): object {
  const time = ttl === undefined ? {} : { ttl: ttl === null ? null : { '@ts': ttl } }
  return { [kind]: refOf(id), params: { object: { data: expression4(data), ...time } } }
}

/** The methods of the door `plain` cannot write the time of removal. */
function statementOf(id: string, { data, kind, ttl }: Write, door: Door): string {
  const fields = Object.entries(data).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  if (ttl !== undefined && door === 'own') fields.push(`ttl: ${ttl === null ? 'null' : `Time("${ttl}")`}`)
  return `C.byId("${id}")!.${kind}${door === 'plain' ? 'Data' : ''}({ ${fields.join(', ')} })`
}

/** Writes a document in one query. */
async function write(database: LawDatabase, door: Door, id: string, ...writes: readonly Write[]) {
  if (door === 'version 4') await database.run4({ do: writes.map(each => expressionOf(id, each)) })
  else await database.run10(writes.map(each => statementOf(id, each, door)).join('\n'))
}

/** Creates the collection, and documents with the given data by their ids. */
async function create(database: LawDatabase, documents: Readonly<Record<string, Fields>>): Promise<void> {
  await database.run10(
    'Collection.create({ name: "C", history_days: 30, document_ttls: true, wildcard: "Any" })',
  )
  for (const [id, data] of Object.entries(documents))
    await database.run10('C.create(Object.assign({ id: id }, data))', { id, data })
}

interface Stored {
  readonly data: Fields
  readonly ttl: string | null
  /** Microseconds. */
  readonly ts: number
}

/** A document, as both languages read it. */
async function read(database: LawDatabase, id: string): Promise<Stored> {
  const found = (await database.run10In(
    'simple',
    `let d = C.byId("${id}")!\n{ data: d.data ?? {}, ttl: d.ttl, ts: d.ts!.toMicros() }`,
  )) as Stored
  // Version 4 stores no empty data.
  const data4 = await database.run4({ select: ['data'], from: { get: refOf(id) }, default: { object: {} } })
  assert.deepEqual(data4, found.data)
  return found
}

const anyWrite = fc.record({
  door: doors,
  kind: fc.constantFrom<Kind>('update', 'replace'),
  data: objectsOf('a', 'b', 'id'),
  ttl: fc.option(fc.constantFrom('2150-01-01T00:00:00Z', '2160-01-01T00:00:00Z', null), { nil: undefined }),
})

law('updates merge objects and replaces replace everything, in both languages', () => server, {
  input: fc.record({ first: objects, writes: fc.array(anyWrite, { maxLength: 4 }) }),
  runs: 40,
  async holds(database, { first, writes }) {
    await create(database, { 1: first })
    let expected = stored(first, false)
    let time: string | null = null
    for (const { door, kind, ...given } of writes) {
      const is4 = door === 'version 4'
      const { id, ...others } = given.data
      // The methods `update` and `replace` reject the reserved name.
      const data = door === 'own' || id === undefined ? others : { ...others, id }
      const ttl = door === 'plain' ? undefined : given.ttl
      await write(database, door, '1', { kind, data, ttl })
      expected = kind === 'update' ? merged(expected, data, is4) : stored(data, is4)
      if (ttl !== undefined) time = ttl
      else if (kind === 'replace') time = null
      const { ts: _, ...found } = await read(database, '1')
      assert.deepEqual(found, { data: expected, ttl: time })
    }
  },
})

/** An update with the effect of two updates, or undefined if there is none: an object that replaces another value. */
function composed(one: Fields, other: Fields): Fields | undefined {
  const result: Record<string, Data> = { ...one }
  for (const [name, value] of Object.entries(other)) {
    const old = one[name]
    if (old === undefined || !isObject(value)) {
      result[name] = value
      continue
    }
    const both = isObject(old) ? composed(old, value) : undefined
    if (both === undefined) return undefined
    result[name] = both
  }
  return result
}

const pairs = fc
  .record({ one: objects, other: objects })
  .map(({ one, other }) => ({ one, other, both: composed(one, other) }))
  .filter(({ both }) => both !== undefined)

law('two updates equal one update with both changes, in one query or in two', () => server, {
  input: fc.record({ first: objects, pair: pairs, door: doors, isTogether: fc.boolean() }),
  runs: 30,
  async holds(database, { first, pair, door, isTogether }) {
    await create(database, { 1: first, 2: first })
    const updates = [pair.one, pair.other].map((data): Write => ({ kind: 'update', data }))
    if (isTogether) await write(database, door, '1', ...updates)
    else for (const each of updates) await write(database, door, '1', each)
    await write(database, door, '2', { kind: 'update', data: pair.both as Fields })
    assert.deepEqual((await read(database, '1')).data, (await read(database, '2')).data)
  },
})

law('a write that is repeated, or writes what is stored, changes only the time', () => server, {
  input: fc.record({
    first: objects,
    kind: fc.constantFrom<Kind>('update', 'replace'),
    data: objects,
    door: doors,
  }),
  runs: 30,
  async holds(database, { first, kind, data, door }) {
    await create(database, { 1: first })
    await write(database, door, '1', { kind, data, ttl: '2150-01-01T00:00:00Z' })
    const before = await read(database, '1')
    await write(database, door, '1', { kind, data, ttl: '2150-01-01T00:00:00Z' })
    const repeated = await read(database, '1')
    await write(database, door, '1', { kind: 'update', data: before.data })
    const updated = await read(database, '1')
    await write(database, door, '1', { kind: 'replace', data: before.data, ttl: before.ttl })
    const replaced = await read(database, '1')
    // Version 10 has created the document, perhaps with nulls in arrays.
    const rewritten = { ...before, data: stored(before.data, door === 'version 4') }
    let { ts } = before
    for (const [each, expected] of [
      [repeated, before],
      [updated, rewritten],
      [replaced, rewritten],
    ] as const) {
      assert.deepEqual({ ...each, ts: 0 }, { ...expected, ts: 0 })
      assert.ok(each.ts > ts, 'a later time')
      ts = each.ts
    }
  },
})
