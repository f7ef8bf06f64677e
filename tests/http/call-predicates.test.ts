// The arguments of a role's predicate for calling a function: the function's arguments, in the language of the
// predicate.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fql, keyOfNewDatabase, query, send, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
let admin: string
let roles = 0

type Case = readonly [predicate: string, call: string, isAllowed: boolean]

before(async () => {
  admin = await keyOfNewDatabase(server, 'calls', 'admin')
  await fql(server, admin, 'Collection.create({ name: "A" })')
  await fql(
    server,
    admin,
    'A.create({ id: 1, n: 1 }); Function.create({ name: "f", body: "x => 1" }); Function.create({ name: "g", body: "(x, y) => 1" })',
  )
  const body = { query: { lambda: 'x', expr: 1 } }
  await query(server, admin, { create_function: { object: { name: 'old', body } } })
})

/**
 * A key that may read A and call functions that a predicate allows. The predicate is a text, or query JSON of version
 * 4.
 */
async function keyFor(predicate: unknown): Promise<string> {
  const name = `role${++roles}`
  if (typeof predicate === 'string') {
    const privileges = ['f', 'g', 'old'].map(resource => ({
      resource,
      actions: { call: predicate } as object,
    }))
    privileges.push({ resource: 'A', actions: { read: true } })
    await fql(server, admin, 'Role.create({ name: name, privileges: privileges })', { name, privileges })
  } else {
    const privileges = ['f', 'g', 'old'].map(resource => ({
      object: { resource: { function: resource }, actions: { object: { call: { query: predicate } } } },
    }))
    await query(server, admin, { create_role: { object: { name, privileges } } })
  }
  const key = (await fql(server, admin, 'Key.create({ role: name })', { name })) as { secret: string }
  return key.secret
}

async function isAllowed(secret: string, call: string): Promise<boolean> {
  const { json, status } = await sendFql(server, secret, call)
  if (status === 200) return true
  assert.equal((json as { error: { code: string } }).error.code, 'permission_denied')
  return false
}

const version10: readonly Case[] = [
  ['x => x == null', 'f(A.all())', false],
  ['x => x isa Set', 'f(A.all())', true],
  ['x => x.count() == 1', 'f(A.all())', true],
  ['x => x isa ID', 'f(ID("7"))', true],
  ['x => x isa Int', 'f(ID("7"))', false],
  ['x => x isa ID', 'old(ID("7"))', true],
  ['x => x.a isa ID', 'f({ a: ID("7") })', true],
  ['x => x[0] isa Set', 'f([A.all()])', true],
  ['x => x == A', 'f(A)', true],
  ['x => x == f', 'f(f)', true],
  ['x => x(1) == 2', 'f(n => n + 1)', true],
  ['x => x == null', 'f(n => n)', false],
  ['x => x isa SetCursor', 'f(A.all().paginate(1).after ?? Set.sequence(0, 2).paginate(1).after)', true],
  ['x => x.n == 1', 'f(A.byId(1))', true],
  ['x => x == A.byId(1)', 'f(A.byId(1))', true],
  ['x => x.exists()', 'f(A.byId(2))', false],
  ['x => x == null', 'f(null)', true],
  ['(x, y) => x isa Set && y == 2', 'g(A.all(), 2)', true],
  ['x => x == TransactionTime()', 'f(TransactionTime())', true],
]

for (const [predicate, call, allowed] of version10) {
  test(`${predicate} is ${allowed ? 'true' : 'not true'} of ${call}`, async () => {
    const secret = await keyFor(predicate)
    assert.equal(await isAllowed(secret, call), allowed)
  })
}

const always = { lambda: '_', expr: true }
const equals = (value: unknown) => ({ lambda: 'x', expr: { equals: [{ var: 'x' }, value] } })
const version4: readonly (readonly [predicate: unknown, call: string, isAllowed: boolean])[] = [
  [always, 'f(1)', true],
  [always, 'f(A)', false],
  [always, 'f(A.all())', false],
  [always, 'f([A.all()])', false],
  [always, 'f({ a: n => n })', false],
  [always, 'g(1, A)', false],
  [equals(null), 'f(A.all())', false],
  [equals(null), 'f(null)', true],
  [equals(7), 'f(ID("7"))', true],
  [equals({ ref: { collection: 'A' }, id: '1' }), 'f(A.byId(1))', true],
  [equals([1]), 'f([1])', true],
  [equals([1]), 'f(1)', false],
  [equals([1, 2]), 'g(1, 2)', true],
]

for (const [predicate, call, allowed] of version4) {
  test(`${JSON.stringify(predicate)} is ${allowed ? 'true' : 'not true'} of ${call}`, async () => {
    const secret = await keyFor(predicate)
    assert.equal(await isAllowed(secret, call), allowed)
  })
}

test('a predicate of version 10 gets the arguments of a call from version 4', async () => {
  const secret = await keyFor('x => x == [1, 2]')
  const call = (given: unknown) =>
    send(server, { secret, query: { call: { function: 'f' }, arguments: given } }).then(
      ({ status }) => status,
    )
  assert.deepEqual([await call([[1, 2]]), await call([1, 2]), await call(1)], [200, 403, 403])
  const stale = await keyFor('x => x.n == 1')
  const { ts } = (await query(server, admin, { get: { ref: { collection: 'A' }, id: '1' } })) as {
    ts: number
  }
  await fql(server, admin, 'A.byId(1)!.update({ n: 2 })')
  const before = { at: ts, expr: { get: { ref: { collection: 'A' }, id: '1' } } }
  const answer = await send(server, {
    secret: stale,
    query: { call: { function: 'f' }, arguments: [before] },
  })
  assert.equal(answer.status, 403, 'the function is given the document, not the version')
  await fql(server, admin, 'A.byId(1)!.update({ n: 1 })')
})
