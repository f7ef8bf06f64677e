// Events lead from one state of a set to the next. The events of a feed lead from the elements at its start to the
// elements at its end, and a page can begin at any cursor. The events of a set of version 4 lead to its elements at each
// time.

import assert from 'node:assert/strict'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import { aimedAt, changes, createItems, items, statementOf } from './generators/items.ts'
import { createIndexes4, type Expression, narrowSets4, sets4 } from './generators/sets4.ts'
import { type LawDatabase, law } from './law.ts'

const server = serverOfFile()

/** An event source with the predicate of a role. The elements name their documents. */
interface Source {
  readonly text: string
  readonly predicate: string
}

/** An index reports only changes of its terms and values, so filters, elements and predicates use no other fields. */
const sources: fc.Arbitrary<Source> = fc.oneof(
  sourcesOf('Item.all()', 'n: d.n, g: d.g, double: d.double', {
    filters: ['', '.where(.n >= 2)', '.where(d => d.tags.includes("b"))', '.where(.extra == null)'],
    predicates: ['doc => doc.n >= 3', 'doc => doc.g == "x"'],
  }),
  ...[
    { set: 'Item.byGroup("x")', weight: 1 },
    { set: 'Item.byGroupTags("x")', weight: 3 },
  ].map(({ set, weight }) => ({
    weight,
    arbitrary: sourcesOf(set, 'g: d.g', { filters: [''], predicates: ['doc => doc.g == "x"'] }),
  })),
  sourcesOf('Item.byGroupSorted("x")', 'n: d.n, extra: d.extra', {
    filters: ['', '.where(.n >= 2)', '.where(.extra == null)'],
    predicates: ['doc => doc.n >= 3', 'doc => doc.g == "x"'],
  }),
  ...['Item.byTag("a")', 'Item.sorted()'].map(set =>
    sourcesOf(set, 'n: d.n, double: d.double', {
      filters: ['', '.where(.n >= 2)'],
      predicates: ['doc => doc.n >= 3'],
    }),
  ),
)

function sourcesOf(
  set: string,
  fields: string,
  { filters, predicates }: { filters: readonly string[]; predicates: readonly string[] },
): fc.Arbitrary<Source> {
  return fc.record({
    text: fc.constantFrom(...filters).map(filter => `${set}${filter}.map(d => { id: d.id, ${fields} })`),
    predicate: fc.constantFrom(...predicates, 'doc => true'),
  })
}

interface Element {
  readonly id: string
}

const byId = (elements: readonly Element[]) => new Map(elements.map(element => [element.id, element]))

/** No random input causes more events. */
const eventsMax = 1000

/** Reads the pages of a feed until no event is left, applies its events to `state`, and returns the cursors. */
async function followFeed(
  database: LawDatabase,
  token: string,
  { caller, from, pageSize }: { from: Readonly<Record<string, unknown>>; pageSize: number; caller: string },
  state: Map<string, Element>,
): Promise<readonly string[]> {
  const cursors: string[] = []
  let start = from
  for (;;) {
    const page = await database.feed(token, start, pageSize, caller)
    assert.ok(page.events.length <= pageSize)
    assert.ok(cursors.length <= eventsMax, 'the feed does not end')
    for (const { cursor, data, type } of page.events) {
      const element = data as Element
      assert.equal(state.has(element.id), type !== 'add', `${type} of ${element.id}`)
      if (type === 'remove') state.delete(element.id)
      else state.set(element.id, element)
      cursors.push(cursor)
    }
    start = { cursor: page.cursor }
    if (!page.has_next) return cursors
  }
}

const feeds = fc.record({
  given: items,
  later: changes,
  source: sources,
  pageSize: fc.integer({ min: 1, max: 3 }),
  isAdmin: fc.boolean(),
  place: fc.nat(),
})

law('a feed leads from the elements at its start to the elements at its end', () => server, {
  input: feeds,
  runs: 70,
  async holds(database, { given, isAdmin, later, pageSize, place, source: { predicate, text } }) {
    await createItems(database, given)
    await database.run10(
      `Role.create({
        name: "reader",
        privileges: { resource: "Item", actions: { read: ${JSON.stringify(predicate)} } }
      })`,
    )
    const caller = isAdmin ? 'admin' : '@role/reader'
    const read = `(${text}).toArray()`
    const start = (await database.run10(`{ source: ${text}.eventSource(), now: ${read} }`, {}, caller)) as {
      readonly source: { readonly '@stream': string }
      readonly now: readonly Element[]
    }
    const token = start.source['@stream']
    for (const change of aimedAt(given, later)) await database.run10(statementOf(change))
    const end = byId((await database.run10(read, {}, caller)) as readonly Element[])
    const state = byId(start.now)
    const cursors = await followFeed(database, token, { from: {}, pageSize, caller }, state)
    assert.deepEqual(new Map([...state].sort()), new Map([...end].sort()), 'from the start')

    const cursor = cursors[place % Math.max(1, cursors.length)]
    if (cursor === undefined) return
    const rest = await restOfFeed(database, token, { from: { cursor }, pageSize, caller })
    assert.deepEqual(rest, cursors.slice(cursors.indexOf(cursor) + 1), 'from a cursor')
  },
})

/** The cursors of all events after a cursor. */
async function restOfFeed(
  database: LawDatabase,
  token: string,
  { caller, from, pageSize }: { from: Readonly<Record<string, unknown>>; pageSize: number; caller: string },
): Promise<readonly string[]> {
  const cursors: string[] = []
  let start = from
  for (;;) {
    const page = await database.feed(token, start, pageSize, caller)
    cursors.push(...page.events.map(({ cursor }) => cursor))
    assert.ok(cursors.length <= eventsMax, 'the feed does not end')
    start = { cursor: page.cursor }
    if (!page.has_next) return cursors
  }
}

interface SetEvent {
  readonly ts: number
  readonly action: 'add' | 'remove'
  readonly document: unknown
  readonly data?: unknown
}

/** All pages of the events of a set. */
async function eventsOf(database: LawDatabase, set: Expression, size: number): Promise<readonly SetEvent[]> {
  const events: SetEvent[] = []
  let cursor: object = {}
  for (;;) {
    const page = (await database.run4({ paginate: { events: set }, size, ...cursor })) as {
      readonly data: readonly SetEvent[]
      readonly after?: unknown
    }
    events.push(...page.data)
    assert.ok(events.length <= eventsMax, 'the pages of events do not end')
    if (page.after === undefined) return events
    cursor = { after: { object: page.after } }
  }
}

/**
 * True if the events of the set are those of a union with several members: the events of its members, which may overlap.
 * Intersections and differences have only events that change them.
 */
function showsUnion(set: unknown): boolean {
  const { distinct, union } = set as Expression
  if (distinct !== undefined) return showsUnion(distinct)
  return Array.isArray(union) && (union.length > 1 || showsUnion(union[0]))
}

/**
 * Ranges and reversed sets have no events. The events of a join leave out elements that existed before their source
 * element.
 */
const setsWithEvents = sets4.filter(
  set => !/"(?:join|range|reverse)"/.test(JSON.stringify(set)) && !showsUnion(set),
)

law('the events of a set of version 4 lead to its elements at each time', () => server, {
  input: fc.record({
    given: items,
    before: changes,
    after: changes,
    set: fc.oneof(setsWithEvents, { weight: 2, arbitrary: narrowSets4 }),
    size: fc.integer({ min: 1, max: 4 }),
  }),
  runs: 60,
  async holds(database, { given, before, after, set, size }) {
    await createItems(database, given)
    await createIndexes4(database, 'early_')
    for (const change of aimedAt(given, before)) await database.run10(statementOf(change))
    // Entries of these documents come from builds of the indexes.
    await createIndexes4(database)
    for (const change of aimedAt(given, after)) await database.run10(statementOf(change))
    const events = await eventsOf(database, set, size)
    const whole = await eventsOf(database, set, 1000)
    assert.deepEqual(events, whole, 'pages')
    const early = JSON.stringify(set).replaceAll('{"index":"', '{"index":"early_')
    assert.deepEqual(whole, await eventsOf(database, JSON.parse(early), 1000), 'events of earlier indexes')
    const state = new Set<string>()
    for (const [place, { action, data, document, ts }] of events.entries()) {
      const element = JSON.stringify(data === undefined ? document : data)
      assert.equal(state.has(element), action === 'remove', `${action} of ${element} at ${ts}`)
      if (action === 'add') state.add(element)
      else state.delete(element)
      if (events[place + 1]?.ts === ts) continue
      const past = { at: { epoch: ts, unit: 'microseconds' }, expr: { paginate: set, size: 1000 } }
      const { data: elements } = (await database.run4(past)) as { data: readonly unknown[] }
      assert.deepEqual([...state].sort(), elements.map(each => JSON.stringify(each)).sort(), `at ${ts}`)
    }
  },
})
