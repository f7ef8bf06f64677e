// A check of a query parses only the functions that the query uses. Otherwise, the first query after each change of the
// schema would take very long in a database with thousands of functions.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { stepsPerDefinition, stepsSoFar } from '../../src/base/effort.ts'
import { fql, keyOfNewDatabase, runText, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
const count = 200
let admin: string

before(async () => {
  admin = await keyOfNewDatabase(server, 'functions', 'admin')
  await fql(
    server,
    admin,
    `Set.sequence(0, count).forEach(n =>
      Function.create({ name: "f" + n.toString(), body: "x => { n: x + 1 }", signature: "(Number) => { n: Number }" }))
    Function.create({ name: "outer", alias: "other", body: "x => [inner(x), f7(x)]" })
    Function.create({ name: "inner", body: "x => { inner: f5(x).n }" })`,
    { count },
  )
})

/** The static type of a query, or its error. */
async function typeOf(text: string): Promise<unknown> {
  const { json } = await sendFql(server, admin, text, {}, { 'x-typecheck': 'true' })
  const { error, static_type } = json as { error?: { code: string }; static_type?: string }
  return static_type ?? error?.code
}

test('the first check after a change of the schema parses only the functions that the query uses', async () => {
  for (const query of ['f3(1)', 'outer(1)']) {
    await fql(server, admin, 'Function.byName("f9")!.update({ data: { query: query } })', { query })
    const stepsBefore = stepsSoFar()
    await typeOf(query)
    assert.ok(stepsSoFar() - stepsBefore < 2 * count * stepsPerDefinition)
  }
})

test('functions have the same types by name, by alias, and through other functions', async () => {
  assert.equal(await typeOf('f3(1)'), '{ n: Number }')
  assert.equal(await typeOf('outer(1)'), '[{ inner: Number }, { n: Number }]')
  assert.equal(await typeOf('other(1)'), '[{ inner: Number }, { n: Number }]')
  assert.equal(await typeOf('f3("a")'), 'invalid_query')
  assert.equal(await typeOf('missing(1)'), 'invalid_query')
})

test('a change of a function changes the types of the functions that call it', async () => {
  const update = 'Function.byName("f7")!.update({ body: "x => x", signature: "(Number) => Number" })'
  await fql(server, admin, update)
  assert.equal(await typeOf('outer(1)'), '[{ inner: Number }, Number]')
})

test('a function of version 4 has an unknown type', async () => {
  await runText(server, admin, 'CreateFunction({name: "old", body: Query(Lambda("x", Var("x")))})')
  assert.equal(await typeOf('old(1)'), 'Any')
})
