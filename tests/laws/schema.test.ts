// The way in which a schema comes about does not matter. Pulled files equal pushed files, a committed staged schema
// equals a direct push, and an index that is added later has the entries of an index that was there from the start.

import assert from 'node:assert/strict'
import { fc } from '../support/fast-check.ts'
import { schemaTexts } from '../support/schema-texts.ts'
import { serverOfFile } from '../support/server.ts'
import { changes, createItems, items, statementOf } from './generators/items.ts'
import { type LawDatabase, law } from './law.ts'

const server = serverOfFile()

/** The items that generated items use. */
const base = `collection D { }
collection E { }
role reader { }
role writer { }
`

/** A schema file with one random item of each kind, with the same names in all files. */
const { 'spelled function': spelled, ...kinds } = schemaTexts
const files = fc
  .tuple(...Object.values({ ...kinds, function: fc.oneof(kinds.function, spelled) }))
  .map((texts): Readonly<Record<string, string>> => ({ 'base.fsl': base, 'main.fsl': texts.join('\n') }))

/** All definitions as the queries of version 10 show them, without the times of their writes. */
async function definitions(database: LawDatabase): Promise<readonly string[]> {
  const all = '[Collection.all(), Function.all(), Role.all(), AccessProvider.all()]'
  const entries = 'flatMap(set => set.toArray()).map(d => Object.entries(Object.assign({}, d)))'
  const found = (await database.run10In('simple', `${all}.${entries}`)) as readonly (readonly [
    string,
    unknown,
  ][])[]
  return found.map(each => JSON.stringify(each.filter(([name]) => name !== 'ts'))).sort()
}

async function pull(database: LawDatabase): Promise<Readonly<Record<string, string>>> {
  const { files: listed } = (await database.schema('GET', 'files')) as {
    readonly files: readonly { readonly filename: string }[]
  }
  const texts = listed.map(async ({ filename }) => {
    const { content } = (await database.schema('GET', `files/${filename}`)) as { readonly content: string }
    return [filename, content] as const
  })
  return Object.fromEntries(await Promise.all(texts))
}

law('pulled files are the pushed files, and pushing them again changes nothing', () => server, {
  input: fc.record({ one: files, other: files }),
  runs: 15,
  async holds(database, { one, other }) {
    for (const each of [one, other]) {
      await database.schema('POST', 'update', each)
      const pulled = await pull(database)
      assert.deepEqual(pulled, each)
      const before = await definitions(database)
      assert.equal(((await database.schema('POST', 'diff', pulled)) as { diff: string }).diff, '')
      await database.schema('POST', 'update', pulled)
      assert.deepEqual(await definitions(database), before)
    }
  },
})

law('a staged schema that is committed equals the schema that is pushed directly', () => server, {
  input: fc.record({ one: files, other: files }),
  runs: 15,
  async holds(database, { one, other }) {
    await database.schema('POST', 'update', one)
    await database.schema('POST', 'update', other)
    const direct = await definitions(database)
    await database.schema('POST', 'update', one)
    await database.schema('POST', 'update?staged=true', other)
    assert.deepEqual(await pull(database), one, 'the active files while others are staged')
    await database.schema('POST', 'staged/commit', {})
    assert.deepEqual(await definitions(database), direct, 'after the commit')
    assert.deepEqual(await pull(database), other)
  },
})

/** Twins of the indexes of the collection `Item`. */
const twins = `
  Collection.byName("Item")!.update({
    indexes: {
      twinByGroup: { terms: [{ field: ".g" }] },
      twinByGroupSorted: { terms: [{ field: ".g" }], values: [{ field: ".n", order: "desc" }, { field: ".extra" }] },
      twinByGroupTags: { terms: [{ field: ".g" }], values: [{ field: ".tags", mva: true }] },
      twinByTag: { terms: [{ field: ".tags", mva: true }], values: [{ field: ".n" }] },
      twinSorted: { values: [{ field: ".n" }] }
    }
  })`

/** The elements of all indexes whose names begin with a prefix. */
const entriesOf = (first: (name: string) => string) => `[
  ["x", "y", "z"].map(g => Item.${first('byGroup')}(g).map(.id).toArray()),
  ["x", "y", "z"].map(g => Item.${first('byGroupSorted')}(g).map(d => [d.id, d.n, d.extra]).toArray()),
  ["x", "y", "z"].map(g => Item.${first('byGroupTags')}(g).map(.id).toArray()),
  ["a", "b", "c"].map(tag => Item.${first('byTag')}(tag).map(.id).toArray()),
  Item.${first('sorted')}().map(d => [d.id, d.n]).toArray()
]`
const original = (name: string) => name
const twin = (name: string) => `twin${name[0]?.toUpperCase()}${name.slice(1)}`

law('an index that is added later has the same entries, now and in the past', () => server, {
  input: fc.record({ given: items, before: changes, after: changes }),
  runs: 40,
  async holds(database, { given, before, after }) {
    await createItems(database, given)
    const times: number[] = []
    const write = async (each: (typeof before)[number]) => {
      times.push((await database.ask10(statementOf(each))).time)
    }
    for (const each of before) await write(each)
    await database.run10(twins)
    for (const each of after) await write(each)
    const read = async (name: (name: string) => string, time?: number) => {
      const text = entriesOf(name)
      return database.run10(
        time === undefined ? text : `at (Time.epoch(${time}, "microseconds")) { ${text} }`,
      )
    }
    assert.deepEqual(await read(twin), await read(original))
    // Indexes can be called only at times after their creation.
    for (const time of times.slice(before.length)) {
      assert.deepEqual(await read(twin, time), await read(original, time), `at ${time}`)
    }
  },
})
