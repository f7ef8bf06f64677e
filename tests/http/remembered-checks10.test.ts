// Results of type checks are remembered by the text of a query and the kinds of its values. A remembered result is never
// used for values or a schema with another result.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepsSoFar } from '../../src/base/effort.ts'
import { send } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()

async function ask(query: unknown, args: object = {}, format = 'simple') {
  const { json } = await send(server, {
    path: '/query/1',
    secret: server.rootSecret,
    body: JSON.stringify({ query, arguments: args }),
    headers: { 'x-typecheck': 'true', 'x-format': format },
  })
  const { error, static_type, summary } = json as {
    readonly static_type?: string
    readonly error?: { readonly code: string }
    readonly summary: string
  }
  return static_type ?? `${error?.code}: ${summary.split('\n')[0]}`
}

test('a printed literal type is the value of the request', async () => {
  for (const text of ['a', 'b', 'a', 'c']) {
    assert.equal(await ask('[x, 1]', { x: text }), `["${text}", 1]`)
    assert.equal(await ask({ fql: ['[', { value: text }, ']'] }), `["${text}"]`)
  }
  for (const value of [1, 2, -1, 1.5, 2.5]) assert.equal(await ask('x', { x: value }), `${value}`)
})

test('a result is used for other values of the same kind only', async () => {
  const query = 'let y: Int = x\ny'
  assert.equal(await ask(query, { x: 1 }), 'Int')
  assert.equal(await ask(query, { x: 2 }), 'Int')
  const long = await ask(query, { x: 2 ** 40 })
  assert.equal(long, 'invalid_query: error: Type `Long` is not a subtype of `Int`')
  assert.equal(await ask(query, { x: '1' }), 'invalid_query: error: Type `String` is not a subtype of `Int`')
  assert.equal(await ask(query, { x: 3 }), 'Int')
  const sum = 'x.map(y => y + 1)'
  assert.equal(await ask(sum, { x: [1, 2] }), 'Array<Number>')
  assert.match(await ask(sum, { x: [1, 'a'] }), /^invalid_query/)
  assert.equal(await ask(sum, { x: [1, 2, 3] }), 'Array<Number>')
  const field = 'x.a'
  assert.equal(await ask(field, { x: { a: 1 } }), '1')
  assert.match(await ask(field, { x: { b: 1 } }), /^invalid_query.*does not have field `a`/)
})

test('a check that compares a value is remembered for this value', async () => {
  const query = 'let y: "a" | "b" = x\n1'
  for (let time = 0; time < 2; time++) {
    assert.equal(await ask(query, { x: 'a' }), '1')
    assert.match(await ask(query, { x: 'c' }), /^invalid_query/)
    assert.equal(await ask(query, { x: 'b' }), '1')
  }
  // For the first value, the check reads only `x`; for the others, it prints `y`, too.
  const both = 'let z: "a" | Int = x\n[y]'
  assert.equal(await ask(both, { x: 'a', y: 1 }), '[1]')
  assert.equal(await ask(both, { x: 5, y: 2 }), '[2]')
  assert.equal(await ask(both, { x: 'a', y: 3 }), '[3]')
})

test('a change of the schema ends the use of a result', async () => {
  const run = (query: string) => ask(query)
  assert.match(
    await run('Collection.create({ name: "Pet", fields: { name: { signature: "String" } } })'),
    /Collection/,
  )
  const query = 'Pet.all().first()?.age'
  assert.match(await run(query), /does not have field `age`/)
  await run('Collection.byName("Pet")!.update({ fields: { age: { signature: "Int?" } } })')
  assert.equal(await run(query), 'Int | Null')
})

test('a remembered result costs a small part of the check', async () => {
  const names = Array.from({ length: 8 }, (_, at) => `a${at}`)
  const query = `let f = (${names.join(', ')}) => [${names.map(name => `${name} + ${name}`).join(', ')}]\nn == 1`
  const stepsOf = async (n: number) => {
    const before = stepsSoFar()
    assert.equal(await ask(query, { n }), 'Boolean')
    return stepsSoFar() - before
  }
  const first = await stepsOf(1)
  const second = await stepsOf(2)
  assert.ok(second < first / 20, `${first} steps, then ${second}`)
})
