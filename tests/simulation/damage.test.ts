// The integrity check must detect when a disk changes stored data. The tests change one byte of every row of each kind.
// They run the check in the process and with the command line program.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { type keyTags, tagRange } from '../../src/storage/keys/keyspace.ts'
import type { Entry, Write } from '../../src/storage/kv/kv-contract.ts'
import { openLmdb } from '../../src/storage/lmdb/lmdb.ts'
import { indexBuilderLimits } from '../../src/storage/store/index-builder.ts'
import { openTestEngine, type TestEngine } from '../support/engine.ts'
import { folderOfFile } from '../support/folder.ts'
import { outputOf, runProgram } from '../support/program.ts'
import * as wire from './wire.ts'

const folder = folderOfFile()

const thing = { collection: 'things', id: 1n }
const things = wire.collection('things')
const params = (n: number) => wire.dataOf({ n, text: 'a text' })
const index = (name: string) => ({
  create_index: wire.object({
    name,
    source: things,
    terms: [wire.object({ field: ['data', 'n'] })],
    values: [wire.object({ field: ['data', 'text'] })],
  }),
})

/** Queries after which rows of every kind exist. */
const filling: readonly wire.Wire[] = [
  ['things', 'gone'].map(name => ({ create_collection: wire.object({ name }) })),
  { create_database: wire.object({ name: 'child' }) },
  index('by_n'),
  { create: wire.reference(thing), params: params(1) },
  { update: wire.reference(thing), params: params(2) },
  { create: wire.reference({ ...thing, id: 2n }), params: params(1) },
  { delete: wire.reference({ ...thing, id: 2n }) },
  { create_key: wire.object({ role: 'admin', database: { database: 'child' } }) },
  { create: { tokens: null }, params: wire.object({ instance: wire.reference(thing) }) },
  { delete: wire.collection('gone') },
  {
    foreach: wire.lambda('n', { create: things, params: wire.dataOf({ n: wire.variable('n') }) }),
    collection: Array.from({ length: indexBuilderLimits.synchronousIndexBuildMax }, (_, n) => n + 10),
  },
  // With so many documents, the index is built in the background, so the build is still pending.
  index('by_n_again'),
]

async function fill(engine: TestEngine): Promise<void> {
  for (const query of filling) await engine.query(query as object)
}

/**
 * All kinds of rows with content to check. The excluded kinds are a marker of schema changes (`schemaVersion`), a list
 * of pending sweeps (`garbage`), and data that belongs to no database (`control`).
 */
type Kind = Exclude<keyof typeof keyTags, 'schemaVersion' | 'garbage' | 'control'>

/** The byte of a row to change. Negative offsets count from the end. */
const damaged: Readonly<
  Record<Kind, { readonly part: 'key' | 'value'; readonly at: number; readonly cleared?: true }>
> = {
  build: { part: 'key', at: -1 },
  // The number of the last collection in the row.
  changes: { part: 'value', at: -1 },
  // The id of the last document in the row.
  collectionChanges: { part: 'value', at: -2 },
  document: { part: 'value', at: 8 },
  history: { part: 'value', at: 8 },
  expiry: { part: 'key', at: -1 },
  indexLive: { part: 'key', at: -1 },
  indexEnded: { part: 'key', at: -1 },
  indexEvent: { part: 'key', at: -1 },
  keyHome: { part: 'key', at: -1 },
  // Times and counters that grow. A larger value would be consistent, so these bytes are set to zero.
  meta: { part: 'value', at: 1, cleared: true },
  counter: { part: 'value', at: 6, cleared: true },
}

/** The writes that change one byte of a row, and the writes that restore it. */
function damage(kind: Kind, { key, value }: Entry): { readonly spoil: Write[]; readonly mend: Write[] } {
  const { at, cleared, part } = damaged[kind]
  const changed = (part === 'key' ? key : value).slice()
  const place = at < 0 ? changed.length + at : at
  changed[place] = cleared ? 0 : (changed[place] as number) ^ 1
  if (part === 'value') return { spoil: [{ key, value: changed }], mend: [{ key, value }] }
  return {
    spoil: [
      { key, value: undefined },
      { key: changed, value },
    ],
    mend: [
      { key: changed, value: undefined },
      { key, value },
    ],
  }
}

function rowsOf(engine: TestEngine, kind: Kind): Entry[] {
  return engine.store.kv.read(view => [...view.range(tagRange(kind))])
}

function write(engine: TestEngine, writes: Write[]): Promise<void> {
  return engine.store.kv.transact(() => ({ result: undefined, writes }))
}

test('one changed byte is detected in rows of every kind', async t => {
  await using engine = openTestEngine()
  await fill(engine)
  for (const kind of Object.keys(damaged) as Kind[]) {
    await t.test(kind, async () => {
      const rows = rowsOf(engine, kind)
      assert.ok(rows.length > 0, 'rows of this kind exist')
      // The oldest row of the log may be missing, because old rows expire.
      for (const row of kind === 'changes' ? rows.slice(1) : rows) {
        const { mend, spoil } = damage(kind, row)
        if (isDeepStrictEqual(spoil, mend)) continue
        await write(engine, spoil)
        assert.notDeepEqual(engine.store.check(), [], Buffer.from(row.key).toString('hex'))
        await write(engine, mend)
      }
      assert.deepEqual(engine.store.check(), [])
    })
  }
})

test('every changed byte of a stored version is detected', async () => {
  await using engine = openTestEngine()
  for (const query of filling.slice(0, 6)) await engine.query(query as object)
  for (const kind of ['document', 'history'] as const) {
    const { key, value } = rowsOf(engine, kind).at(-1) as Entry
    for (let place = 0; place < value.length; place++) {
      const changed = value.slice()
      changed[place] = (changed[place] as number) ^ 1
      await write(engine, [{ key, value: changed }])
      assert.notDeepEqual(engine.store.check(), [], `byte ${place} of a ${kind} row`)
    }
    await write(engine, [{ key, value }])
  }
  assert.deepEqual(engine.store.check(), [])
})

test('the command reports damage on a disk', async t => {
  {
    await using first = openTestEngine({ kv: openLmdb({ path: folder }) })
    await fill(first)
  }
  await outputOf(['check', '--data', folder])
  for (const kind of ['document', 'indexLive', 'changes'] as const) {
    await t.test(kind, async () => {
      const engine = openTestEngine({ kv: openLmdb({ path: folder }) })
      const { mend, spoil } = damage(kind, rowsOf(engine, kind).at(-1) as Entry)
      await write(engine, spoil)
      await engine.close()
      const { status, stdout } = await runProgram(['check', '--data', folder])
      assert.equal(status, 1, stdout)
      assert.match(stdout, /contradiction/)
      await using again = openTestEngine({ kv: openLmdb({ path: folder }) })
      await write(again, mend)
    })
  }
})
