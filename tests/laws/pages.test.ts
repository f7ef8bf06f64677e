// All pages of a set together are the whole set: for every set, projection, page size, caller and kind of cursor, wherever
// the set comes from, also while other requests write.

import assert from 'node:assert/strict'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import { type Change, changes, createItems, items, statementOf } from './generators/items.ts'
import { documentSets, projections } from './generators/sets10.ts'
import { type LawDatabase, law } from './law.ts'

const server = serverOfFile()

interface PageOf {
  readonly data: readonly unknown[]
  readonly after?: string
}

/** A role that may read documents, and neither their history nor anything else. */
async function createReader(database: LawDatabase): Promise<string> {
  await database.run10(
    'Role.create({ name: "reader", privileges: { resource: "Item", actions: { read: true } } })',
  )
  return '@role/reader'
}

const input = fc.record({
  given: items,
  set: documentSets,
  project: projections,
  size: fc.integer({ min: 1, max: 4 }),
  isReader: fc.boolean(),
  later: changes,
  /** Writes of the query that returns the first page, if its caller may write. */
  own: changes,
})

/** The forms in which a client sends a cursor and a page size. */
const cursorForms = {
  literal: (after: string, size: number) => [`Set.paginate("${after}", ${size})`, {}],
  argument: (after: string, size: number) => ['Set.paginate(after, size)', { after, size }],
  variable: (after: string, size: number) => [`let c = "${after}"; Set.paginate(c, ${size})`, {}],
} as const satisfies Readonly<Record<string, (after: string, size: number) => readonly [string, object]>>

type CursorForm = keyof typeof cursorForms
const forms = Object.keys(cursorForms) as CursorForm[]

/** Where a query gets a set from. A function `Door` returns the set. */
const origins = {
  text: set => set,
  variable: set => `({ let set = ${set}; set })`,
  lambda: set => `(set => set)(${set})`,
  field: set => `({ inner: { set: ${set} } }).inner.set`,
  element: set => `([${set}].first()!)`,
  choice: set => `(if (Item.all().isEmpty()) ${set} else ${set})`,
  function: () => 'Door()',
} as const satisfies Readonly<Record<string, (set: string) => string>>

type Origin = keyof typeof origins
const allOrigins = Object.keys(origins) as Origin[]

/** Creates the function `Door`, which all callers may call. */
async function createDoor(database: LawDatabase, set: string): Promise<void> {
  await database.run10('Function.create({ name: "Door", body: body })', { body: `() => ${set}` })
  await database.run10(
    'Role.byName("reader")?.update({ privileges: [' +
      '{ resource: "Item", actions: { read: true } }, { resource: "Door", actions: { call: true } }] })',
  )
}

function turnPage(database: LawDatabase, form: CursorForm, after: string, size: number, caller: string) {
  const [text, args] = cursorForms[form](after, size)
  return database.run10(text, args, caller)
}

async function remainingPages(
  database: LawDatabase,
  first: PageOf,
  {
    caller,
    form,
    size,
    between,
    whole,
  }: {
    caller: string
    form: CursorForm
    size: number
    between?: () => Promise<void>
    whole: readonly unknown[]
  },
): Promise<readonly unknown[]> {
  const seen = [...first.data]
  for (let { after } = first; after !== undefined; ) {
    await between?.()
    const page = pageIn(await turnPage(database, form, after, size, caller))
    // Every page but the last is full.
    if (page.after !== undefined) assert.equal(page.data.length, size)
    seen.push(...page.data)
    assert.ok(seen.length <= whole.length, `the pages repeat elements: ${JSON.stringify(seen)}`)
    after = page.after
  }
  return seen
}

/** A page in the format `tagged`. */
function pageIn(value: unknown): PageOf {
  const page = ((value as { '@set'?: PageOf })['@set'] ?? value) as PageOf
  return page
}

law('all pages of a set are the whole set, with and without a role', () => server, {
  input: fc.tuple(input, fc.constantFrom(...forms), fc.constantFrom(...allOrigins)),
  runs: 60,
  async holds(database, [{ given, isReader, project, set, size }, form, origin]) {
    await createItems(database, given)
    const caller = isReader ? await createReader(database) : 'admin'
    if (origin === 'function') await createDoor(database, set)
    const text = project.replace('SET', origins[origin](set))
    const both = await database.run10(
      `{ whole: (${text}).toArray(), page: (${text}).pageSize(${size}) }`,
      {},
      caller,
    )
    const { page, whole } = both as { page: unknown; whole: readonly unknown[] }
    const seen = await remainingPages(database, pageIn(page), { caller, form, size, whole })
    assert.deepEqual(seen, whole)
    assert.equal(await countOf(database, text, caller), whole.length)
  },
})

const countOf = async (database: LawDatabase, set: string, caller: string) => {
  const value = (await database.run10(`(${set}).count()`, {}, caller)) as {
    '@int'?: string
    '@long'?: string
  }
  return Number(value['@int'] ?? value['@long'])
}

/** Statements that make changes. */
const writesOf = (made: readonly Change[]) => made.map(change => `${statementOf(change)}\n`).join('')

law('pages show the set as of the first page, whatever others write meanwhile', () => server, {
  input: fc.tuple(input, fc.constantFrom(...forms)),
  runs: 40,
  async holds(database, [{ given, isReader, later, own, set, size }, form]) {
    await createItems(database, given)
    const caller = isReader ? await createReader(database) : 'admin'
    const text = `${set}.map(.id)`
    const both = await database.run10(
      `${writesOf(isReader ? [] : own)}{ whole: (${text}).toArray(), page: (${text}).pageSize(${size}) }`,
      {},
      caller,
    )
    const { page, whole } = both as { page: unknown; whole: readonly unknown[] }
    const waiting = [...later]
    const between = async () => {
      const change = waiting.shift()
      if (change) await database.run10(statementOf(change))
    }
    assert.deepEqual(
      await remainingPages(database, pageIn(page), { caller, form, size, between, whole }),
      whole,
    )
  },
})

law('a set that is paged within one query is the whole set', () => server, {
  input,
  runs: 40,
  async holds(database, { given, own, project, set, size }) {
    await createItems(database, given)
    const text = project.replace('SET', set)
    const { pages, whole } = (await database.run10(
      `${writesOf(own)}let first = (${text}).paginate(${size})
       let second = if (first.after == null) null else Set.paginate(first.after!, ${size})
       { whole: (${text}).take(${2 * size}).toArray(), pages: first.data.concat(second?.data ?? []) }`,
    )) as { pages: unknown; whole: unknown }
    assert.deepEqual(pages, whole)
  },
})
