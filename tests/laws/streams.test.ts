// A stream for a role reports the changes of the documents that the role may read, and no others. Its events are those
// of a stream for an admin, filtered by the role's predicate at the time of each change.

import assert from 'node:assert/strict'
import type { StreamReader, WireEvent } from '../streams/stream-client.ts'
import { eventually } from '../support/eventually.ts'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import {
  aimedAt,
  type Change,
  changes,
  createItems,
  type Item,
  items,
  statementOf,
} from './generators/items.ts'
import { createIndexes4, type Expression, readIndexes } from './generators/sets4.ts'
import { type LawDatabase, law } from './law.ts'

const server = serverOfFile()
const reader = '@role/reader'

const given = items.filter(all => all.length > 0)

/** The changes of some transactions. */
const transactions: fc.Arbitrary<readonly (readonly Change[])[]> = fc.array(
  changes.map(all => all.slice(0, 3)).filter(all => all.length > 0),
  { maxLength: 5 },
)

const aimed = (given: readonly Item[], later: readonly (readonly Change[])[]) =>
  later.map(each => aimedAt(given, each))

/** Passes all predicates and filters, and differs from all other documents. Streams are read up to its event. */
const last: Item = { n: 6, g: 'x', tags: ['a', 'b'], next: 99 }

/** Commits the changes and the last write. Returns the times of the transactions. */
async function commit(
  database: LawDatabase,
  later: readonly (readonly Change[])[],
  isDocumentSource: boolean,
): Promise<readonly number[]> {
  const data = JSON.stringify(last)
  const write = isDocumentSource
    ? `if (Item.byId("1").exists()) Item.byId("1")!.replace(${data})
       else Item.create(Object.assign({ id: "1" }, ${data}))`
    : `Item.create(${data})`
  const times: number[] = []
  for (const text of [...later.map(each => each.map(statementOf).join('\n')), write]) {
    const { status, time } = await database.ask10(text)
    assert.equal(status, 200)
    times.push(time)
  }
  return times
}

/** The events of a stream up to the transaction at `end`, which has one event. */
async function eventsUntil(stream: StreamReader, end: number): Promise<readonly WireEvent[]> {
  const events: WireEvent[] = []
  let isOver = false
  const read = async () => {
    try {
      do events.push(await stream.next())
      while (timeOf(events.at(-1) as WireEvent) !== end)
    } finally {
      isOver = true
    }
  }
  await Promise.race([read(), eventually(`a stream reports the transaction at ${end}`, () => isOver)])
  return events
}

const timeOf = (event: WireEvent): number => (event as { txn_ts?: number }).txn_ts ?? event.txn

/** An event of version 10, without its costs. */
interface Event10 {
  readonly type: string
  readonly data: unknown
  readonly txn_ts: number
  readonly cursor: string
}

const event10 = (event: object): Event10 => {
  const { cursor, data, txn_ts, type } = event as Event10
  return { type, data, txn_ts, cursor }
}

/** The body of a lambda in place of the predicate, and the value of the action `read`. */
const readers10 = fc.constantFrom(
  ...[
    'doc => doc.n >= 3',
    'doc => doc.g == "x"',
    'doc => doc.tags.includes("a")',
    'doc => (Item.byId(doc.next)?.n ?? 9) >= 3',
  ].map(predicate => ({ predicate, action: JSON.stringify(predicate) })),
  { predicate: 'doc => true', action: 'true' },
)

/** The arguments of `eventsOn`; empty for `eventSource`. The last write changes `n`. */
type Watched = readonly ('n' | 'g' | 'extra')[]

const documentSource = 'Set.single(Item.byId("1")!)'
const sources10 = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(
        'Item.byGroup("x")',
        'Item.byGroupSorted("x")',
        'Item.byGroupTags("x")',
        'Item.byTag("a")',
      )
      .map(source => ({ source, watched: [] as Watched })),
  },
  fc.constantFrom<Watched>([], ['n']).map(watched => ({ source: 'Item.sorted()', watched })),
  {
    weight: 3,
    arbitrary: fc.record({
      source: fc.constantFrom('Item.all()', documentSource),
      watched: fc.constantFrom<Watched>([], ['n'], ['n', 'g'], ['extra', 'n'], ['g', 'extra', 'n']),
    }),
  },
)

/** The state of a document before or after a transaction. */
interface State10 {
  readonly id: string
  readonly isReadable: boolean
  readonly passes: boolean
  readonly n: unknown
  readonly g: unknown
  readonly extra: unknown
  readonly element: unknown
}

const filters = fc.constantFrom(
  'd => true',
  'd => d.n >= 2',
  'd => d.tags.includes("b")',
  'd => d.extra == null',
)

law('a stream of version 10 for a role reports the changes that the role may read', () => server, {
  input: fc.record({
    given,
    later: transactions,
    reader10: readers10,
    source10: sources10,
    filter: filters,
    pageSize: fc.integer({ min: 1, max: 3 }),
    place: fc.nat(),
  }),
  runs: 30,
  async holds(database, { filter, given, later, pageSize, place, reader10, source10 }) {
    const { predicate } = reader10
    const { source, watched } = source10
    await createItems(database, given)
    await database.run10(
      `Role.create({
        name: "reader",
        privileges: { resource: "Item", actions: { read: ${reader10.action} } }
      })`,
    )
    const events = watched.length > 0 ? `eventsOn(${watched.map(name => `.${name}`)})` : 'eventSource()'
    const own = `${source}.${events}.where(${filter}).map(d => { n: d.n, next: d.following?.n })`
    const opened = await database.ask10(`{ token: ${own} }`, {}, reader)
    if (opened.status !== 200) {
      const denied = `${source}.where(${predicate}).isEmpty()`
      assert.equal(source, documentSource)
      assert.equal(await database.run10(denied), true, 'a document that the role may read')
      return
    }
    const token = tokenOf(opened.value)
    const all = tokenOf(await database.run10(`{ token: ${source}.map(.id).eventSource() }`))
    const live = await database.stream('/stream/1', { token }, reader)
    const times = await commit(database, aimed(given, later), source === documentSource)
    const end = times.at(-1) as number

    const raw = await feedOf(database, all, 16, 'admin')
    await assertMembership(database, source, raw, times)
    const states = await statesAt(
      database,
      times.flatMap(time => [time - 1, time]),
      predicate,
      filter,
    )
    const expected = raw.flatMap(({ data, txn_ts, type, cursor }) => {
      const find = (time: number) =>
        states.get(time)?.find(each => each.id === data && each.isReadable) as State10 | undefined
      const before = type === 'add' ? undefined : find(txn_ts - 1)
      const after = type === 'remove' ? undefined : find(txn_ts)
      if (watched.length > 0 && !isWatchedChange(watched, before, after)) return []
      const change = changeOf(before, after)
      return change === undefined ? [] : [{ ...change, txn_ts, cursor }]
    })
    const feed = await feedOf(database, token, pageSize, reader)
    assert.deepEqual(feed, expected, 'the feed')
    const read = async (stream: StreamReader) => {
      const [status, ...rest] = await eventsUntil(stream, end)
      assert.equal(status?.type, 'status')
      return rest.map(event10)
    }
    assert.deepEqual(await read(live), expected, 'a stream from the start')
    const replay = (start: object) => database.stream('/stream/1', { token, ...start }, reader)
    assert.deepEqual(await read(await replay({})), expected, 'a replay')
    const from = place % expected.length
    const { cursor, txn_ts } = expected[from] as Event10
    if (txn_ts === end) return
    assert.deepEqual(await read(await replay({ cursor })), expected.slice(from + 1), 'a replay from a cursor')
    const later10 = expected.filter(each => each.txn_ts > txn_ts)
    assert.deepEqual(await read(await replay({ start_ts: txn_ts })), later10, 'a replay from a time')
  },
})

/** An admin's feed adds and removes the documents that enter and leave the source. */
async function assertMembership(
  database: LawDatabase,
  source: string,
  raw: readonly Event10[],
  times: readonly number[],
): Promise<void> {
  const set = source === documentSource ? 'Item.all().where(.id == "1")' : source
  const idsAt = (time: number) =>
    `at (Time.epoch(${time}, "microseconds")) { ${set}.map(.id).distinct().toArray() }`
  const pairs = times.map(time => `[${idsAt(time - 1)}, ${idsAt(time)}]`)
  const ids = (await database.run10(`[${pairs.join(', ')}]`)) as readonly (readonly [unknown[], unknown[]])[]
  for (const [at, [before, after]] of ids.entries()) {
    const reported = (type: string) =>
      raw.filter(each => each.txn_ts === times[at] && each.type === type).map(({ data }) => data)
    assert.deepEqual(reported('add').sort(), after.filter(id => !before.includes(id)).sort())
    assert.deepEqual(reported('remove').sort(), before.filter(id => !after.includes(id)).sort())
  }
}

/** A new document has a watched field, an update changes one, and a removed document had all of them. */
function isWatchedChange(watched: Watched, before: State10 | undefined, after: State10 | undefined): boolean {
  if (before === undefined) return watched.some(name => after?.[name] !== null)
  if (after === undefined) return watched.every(name => before[name] !== null)
  return watched.some(name => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
}

/** The event that leads from one state of a document to the next. */
function changeOf(
  before: State10 | undefined,
  after: State10 | undefined,
): Pick<Event10, 'type' | 'data'> | undefined {
  if (after?.passes === true) return { type: before?.passes === true ? 'update' : 'add', data: after.element }
  return before?.passes === true ? { type: 'remove', data: before.element } : undefined
}

const tokenOf = (result: unknown): string =>
  (result as { readonly token: { readonly '@stream': string } }).token['@stream']

/** All events of a feed from the start of its token. */
async function feedOf(
  database: LawDatabase,
  token: string,
  pageSize: number,
  caller: string,
): Promise<readonly Event10[]> {
  const events: Event10[] = []
  let start = {}
  for (;;) {
    const page = await database.feed(token, start, pageSize, caller)
    events.push(...page.events.map(event10))
    if (!page.has_next) return events
    assert.ok(page.events.length > 0, 'a page without events is the last one')
    start = { cursor: page.cursor }
  }
}

/** The states of all documents at each time, as an admin computes them. */
async function statesAt(
  database: LawDatabase,
  times: readonly number[],
  predicate: string,
  filter: string,
): Promise<ReadonlyMap<number, readonly State10[]>> {
  const state = `Item.all().map(d => {
    let next = d.following
    {
      id: d.id,
      isReadable: (${predicate})(d),
      passes: (${filter})(d),
      n: d.n, g: d.g, extra: d.extra,
      element: { n: d.n, next: if (next != null && (${predicate})(next!)) next!.n else null }
    }
  }).toArray()`
  const texts = times.map(time => `at (Time.epoch(${time}, "microseconds")) { ${state} }`)
  const states = (await database.run10(`[${texts.join(', ')}]`)) as readonly (readonly State10[])[]
  return new Map(times.map((time, at) => [time, states[at] as readonly State10[]]))
}

const fieldOf = (name: string) => ({ select: ['data', name], from: { get: { var: 'ref' } }, default: null })
const predicates4 = fc.constantFrom<unknown>(
  { gte: [fieldOf('n'), 3] },
  { equals: [fieldOf('g'), 'x'] },
  { if: { exists: { var: 'ref' } }, then: { equals: [fieldOf('extra'), null] }, else: true },
  true,
)

const documentOf = (id: string) => ({ ref: { collection: 'Item' }, id })
const sources4 = fc.constantFrom<Expression>(
  documentOf('1'),
  { documents: { collection: 'Item' } },
  { match: { index: 'refs' } },
  { match: { index: 'by_g' }, terms: 'x' },
  { match: { index: 'by_tag' }, terms: 'a' },
  { match: { index: 'n_ref' } },
  { match: { index: 'n_ref_by_g' }, terms: 'x' },
  { match: { index: 'tag_ref_by_g' }, terms: 'x' },
)

/** An event of version 4. */
interface Event4 {
  readonly type: string
  readonly txn: number
  readonly event: {
    readonly action: string
    readonly document: { readonly ref: unknown; readonly ts: number }
  }
}

law('a stream of version 4 for a role reports the changes that the role may read', () => server, {
  input: fc.record({
    given,
    later: transactions,
    predicate: predicates4,
    readsHistory: fc.boolean(),
    source: sources4,
  }),
  runs: 20,
  async holds(database, { given, later, predicate, readsHistory, source }) {
    await createItems(database, given)
    await createIndexes4(database)
    const read = predicate === true ? true : { query: { lambda: 'ref', expr: predicate } }
    const actions = { object: { read, history_read: readsHistory } }
    const documents = { object: { resource: { collection: 'Item' }, actions } }
    await database.run4({
      create_role: { object: { name: 'reader', privileges: [documents, ...readIndexes] } },
    })
    const path = '/stream?fields=action,document,diff,prev,index'
    const streams = [await database.stream(path, source), await database.stream(path, source, reader)]
    for (const stream of streams) assert.equal((await stream.next()).type, 'start')
    const end = (await commit(database, aimed(given, later), 'id' in source)).at(-1) as number
    const [all = [], own = []] = await Promise.all(streams.map(stream => eventsUntil(stream, end)))
    const expected: Event4[] = []
    for (const { event, txn, type } of all as readonly Event4[]) {
      const { ref } = event.document
      if (!(await isReadableAt(database, ref, txn, predicate))) continue
      const seesPast = readsHistory || (await isReadableAt(database, ref, txn - 1, predicate))
      expected.push({ type, txn, event: seesPast ? event : withoutPast(event, txn) })
    }
    assert.deepEqual(
      (own as readonly Event4[]).map(({ event, txn, type }) => ({ type, txn, event })),
      expected,
    )
  },
})

/** Returns whether an admin finds that the predicate is true for a document at a time. */
async function isReadableAt(
  database: LawDatabase,
  reference: unknown,
  time: number,
  predicate: unknown,
): Promise<boolean> {
  const { '@ref': target } = reference as { readonly '@ref': { readonly id: string } }
  const expr = { let: [{ ref: documentOf(target.id) }], in: predicate }
  const { status, value } = await database.ask4({ at: { epoch: time, unit: 'microseconds' }, expr })
  return status < 300 && value === true
}

/** The event without the state of the document before the transaction. */
function withoutPast(event: Event4['event'], txn: number): Event4['event'] {
  const { action, document } = event
  if (action === 'create' || action === 'add') return event
  return { action, document: action === 'delete' ? { ref: document.ref, ts: txn } : document }
}
