// Pages whose cursors name deleted collections and other deleted schema objects. A page prints these objects by their
// last names, and the cursor of the page must lead to the next page.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseExpression } from '../../src/fql4/text/index.ts'
import { writeJson } from '../../src/values/write-json.ts'
import { keyOfNewDatabase, query, runText, send } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()

interface Page {
  readonly data: readonly unknown[]
  readonly before?: unknown
  readonly after?: unknown
}

/** A new database, with functions that run queries in it. */
async function open(name: string) {
  const secret = await keyOfNewDatabase(server, name, 'admin')
  const run = (text: string) => runText(server, secret, text)

  /** Checks that the pages of one element are the elements of the page of all elements. */
  async function checkPages(set: string, count: number): Promise<void> {
    const paginate = JSON.parse(writeJson(parseExpression(set).json))
    const page = async (rest: object) => (await query(server, secret, { paginate, ...rest })) as Page
    const { data } = await page({ size: 1000 })
    assert.equal(data.length, count)
    for (const direction of ['after', 'before'] as const) {
      const seen: unknown[] = []
      let cursor: object = direction === 'after' ? {} : { before: null }
      for (let left = count + 2; ; left--) {
        assert.ok(left > 0, `the pages ${direction} do not end: ${JSON.stringify(seen)}`)
        const one = await page({ size: 1, ...cursor })
        if (direction === 'after') seen.push(...one.data)
        else seen.unshift(...one.data)
        if (!(direction in one)) break
        // In queries, an object that is no reference needs a wrapper.
        const next = one[direction]
        cursor = { [direction]: Array.isArray(next) ? next : { object: next } }
      }
      assert.deepEqual(seen, data, `${set} ${direction}`)
    }
  }
  return { secret, run, checkPages }
}

test('pages of index entries whose values refer to a deleted collection', async () => {
  const { checkPages, run } = await open('deleted-values')
  await run('Do(CreateCollection({ name: "tags" }), CreateCollection({ name: "posts" }))')
  await run(`CreateIndex({ name: "by_tag", source: Collection("posts"),
    values: [{ field: ["data", "tag"] }, { field: ["data", "n"] }] })`)
  for (const n of [1, 2, 3, 4])
    await run(
      `Create(Ref(Collection("posts"), "${n}"), { data: { n: ${n}, tag: Ref(Collection("tags"), "${n % 2}") } })`,
    )
  await run('Delete(Collection("tags"))')
  await checkPages('Match(Index("by_tag"))', 4)
  await checkPages('Events(Match(Index("by_tag")))', 4)
  await checkPages('Union(Match(Index("by_tag")), Documents(Collection("posts")))', 8)
})

test('pages of values that refer to two collections which had the same name', async () => {
  const { checkPages, run } = await open('namesakes')
  await run('CreateCollection({ name: "posts" })')
  await run(
    `CreateIndex({ name: "by_tag", source: Collection("posts"), values: [{ field: ["data", "tag"] }] })`,
  )
  for (const n of [1, 2, 3]) {
    await run('CreateCollection({ name: "tags" })')
    await run(`Create(Ref(Collection("posts"), "${n}"), { data: { tag: Ref(Collection("tags"), "7") } })`)
    if (n < 3) await run('Delete(Collection("tags"))')
  }
  await checkPages('Match(Index("by_tag"))', 3)
  await checkPages('Events(Match(Index("by_tag")))', 3)
})

test('pages of events of deleted schema objects', async () => {
  const { checkPages, run } = await open('deleted-objects')
  await run('Do(CreateCollection({ name: "a" }), CreateCollection({ name: "b" }))')
  await run(
    'CreateIndex({ name: "collections_by_name", source: Collections(), values: [{ field: ["name"] }] })',
  )
  await run('CreateIndex({ name: "all_functions", source: Functions() })')
  await run('Do(CreateDatabase({ name: "inner" }), CreateDatabase({ name: "other" }))')
  for (let round = 0; round < 3; round++) {
    await run('CreateFunction({ name: "f", body: Query(Lambda("x", Var("x"))) })')
    await run('Delete(Function("f"))')
  }
  await run('Do(Delete(Collection("a")), Delete(Collection("b")), Delete(Database("inner")))')
  await run('CreateCollection({ name: "b" })')
  await checkPages('Events(Match(Index("collections_by_name")))', 5)
  await checkPages('Events(Match(Index("all_functions")))', 6)
  await checkPages('Events(Collections())', 5)
  await checkPages('Events(Databases())', 3)
})

test('a cursor with the name of an object that never existed is rejected', async () => {
  const { run, secret } = await open('never')
  await run('CreateCollection({ name: "c" })')
  await run('CreateIndex({ name: "by_x", source: Collection("c"), values: [{ field: ["data", "x"] }] })')
  await run('Create(Ref(Collection("c"), "1"), { data: { x: 1 } })')
  const [event] = ((await run('Paginate(Events(Match(Index("by_x"))))')) as { data: { ts: number }[] }).data
  const unknown = 'Ref(Collection("none"), "1")'
  const of = 'document: Ref(Collection("c"), "1")'
  for (const [text, position] of [
    [`Paginate(Match(Index("by_x")), { after: [${unknown}, Ref(Collection("c"), "1")] })`, ['after']],
    [`Paginate(Match(Index("by_x")), { before: [[{ a: ${unknown} }]] })`, ['before']],
    [
      `Paginate(Events(Match(Index("by_x"))), { after: { ts: ${event?.ts}, action: "add", ${of}, data: [${unknown}] } })`,
      ['after', 'data'],
    ],
    [
      `Paginate(Events(Match(Index("by_x"))), { before: { ts: ${event?.ts}, action: "add", document: ${unknown} } })`,
      ['before', 'document'],
    ],
  ] as const) {
    const { json, status } = await send(server, { secret, body: writeJson(parseExpression(text).json) })
    const [error] = (json as { errors: { code: string; position: unknown }[] }).errors
    assert.deepEqual([status, error?.code, error?.position], [400, 'invalid ref', position], text)
  }
})
