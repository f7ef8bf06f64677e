// Explanations of access decisions: the reason and the position in the query of each decision. Nothing is written.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openTestEngine } from '../../support/engine.ts'

const app = openTestEngine()
after(() => app.close())

const ownOnly = { query: { lambda: 'ref', expr: { equals: [{ var: 'ref' }, { current_identity: null }] } } }
const broken = { query: { lambda: 'ref', expr: { select: ['data', 'none'], from: { get: { var: 'ref' } } } } }
const users = { collection: 'users' }
const role = (name: string, privileges: object[], membership?: object) => ({
  create_role: { object: { name, privileges, ...(membership && { membership }) } },
})
const privilege = (resource: object, actions: object) => ({
  object: { resource, actions: { object: actions } },
})

await app.query({ create_collection: { object: { name: 'users' } } })
await app.query({ create_collection: { object: { name: 'notes' } } })
const user = (id: string) => ({ ref: users, id })
await app.query({ create: user('1'), params: { object: {} } })
await app.query({ create: user('2'), params: { object: {} } })
const member = { object: { resource: users } }
const notesAndOwn = [
  privilege({ collection: 'notes' }, { create: true }),
  privilege(users, { read: ownOnly }),
]
await app.query(role('own', notesAndOwn, member))
await app.query(role('faulty', [privilege(users, { read: broken, write: false })], member))
const second = { lambda: 'user', expr: { equals: [{ select: 'id', from: { var: 'user' } }, '2'] } }
const onlySecond = { object: { resource: users, predicate: { query: second } } }
await app.query(role('second', [privilege(users, { write: true })], onlySecond))
const key = (await app.query({ create_key: { object: { role: { role: 'own' } } } })) as {
  secret: string
  ref: object
}

interface Explanation {
  readonly result?: unknown
  readonly errors?: readonly { code: string; position: unknown[] }[]
  readonly memberships?: readonly { grant: boolean; role: { '@ref': { id: string } } }[]
  readonly decisions: readonly {
    position: unknown[]
    action: string
    allowed: boolean
    decided_by: string
    role?: string
    granting?: readonly { role: { '@ref': { id: string } }; privilege: number }[]
    considered: readonly { role: { '@ref': { id: string } }; grant: boolean; failure?: { code: string }[] }[]
  }[]
}

async function ask(
  body: unknown,
  secret = 'the-root-secret-of-a-test',
): Promise<{ status: number; told: Explanation }> {
  const request = {
    authorization: `Bearer ${secret}`,
    language: '4',
    dialect: '4',
    body: JSON.stringify(body),
    timeoutMs: 60_000,
  } as const
  const { body: text, status } = await app.engine.explain(request, undefined)
  return { status, told: JSON.parse(text).resource }
}

test('a predicate that grants is shown with its role, its privilege and the position in the query', async () => {
  const { status, told } = await ask({ query: { let: [{ x: { get: user('1') } }], in: 1 }, as: user('1') })
  assert.equal(status, 200)
  assert.equal(told.result, 1)
  const [decision] = told.decisions
  assert.equal(decision?.decided_by, 'privileges')
  assert.equal(decision?.granting?.[0]?.role['@ref'].id, 'own')
  assert.equal(decision?.granting?.[0]?.privilege, 1)
  assert.deepEqual(decision?.position, ['let', 0, 'x'])
})

test('each decision has its own position, also after a read at another time and after predicates', async () => {
  const query = [{ at: { now: null }, expr: { exists: user('1') } }, { get: user('1') }, { get: user('2') }]
  const { told } = await ask({ query, as: user('1') })
  assert.deepEqual(
    told.decisions.map(({ action, allowed, position }) => [action, allowed, position]),
    [
      ['read', true, [0, 'expr']],
      ['read', true, [1]],
      ['read', false, [2]],
    ],
  )
})

test('a denial shows the result of every predicate', async () => {
  const { told } = await ask({ query: { get: user('2') }, as: user('1') })
  const codes = told.errors?.map(({ code }) => code)
  assert.deepEqual(codes, ['permission denied'])
  const [decision] = told.decisions
  assert.deepEqual([decision?.allowed, decision?.decided_by, decision?.action], [false, 'nothing', 'read'])
  const seen = Object.fromEntries(decision?.considered.map(each => [each.role['@ref'].id, each]) ?? [])
  assert.equal(seen.own?.grant, false)
  assert.equal(seen.faulty?.failure?.[0]?.code, 'value not found')
})

test('memberships are shown, including those whose predicate returned false', async () => {
  const { told } = await ask({ query: 1, as: user('1') })
  const grants = Object.fromEntries(told.memberships?.map(each => [each.role['@ref'].id, each.grant]) ?? [])
  assert.deepEqual(grants, { own: true, faulty: true, second: false })
})

test('roles, keys and built-in roles are explained too, and nothing is written', async () => {
  const create = { create: { collection: 'notes' }, params: { object: { data: { object: {} } } } }
  for (const as of [{ role: 'own' }, key.ref]) {
    const { told } = await ask({ query: create, as })
    assert.ok(told.result)
    const made = told.decisions.map(each => [each.action, each.allowed, each.decided_by])
    assert.deepEqual(made, [['create', true, 'privileges']])
  }
  const { told } = await ask({ query: create, as: 'client' })
  assert.deepEqual([told.decisions[0]?.allowed, told.decisions[0]?.role], [false, 'client'])
  assert.equal(await app.query({ count: { documents: { collection: 'notes' } } }), 0)
})

test('explanations agree with the results of the queries', async () => {
  const queries = [
    { get: user('1') },
    { get: user('2') },
    { exists: user('2') },
    { update: user('2'), params: { object: {} } },
    { paginate: { documents: users } },
    { paginate: { collections: null } },
    { create: { ref: { collection: 'notes' }, id: '9' }, params: { object: {} } },
    { create_collection: { object: { name: 'x' } } },
  ]
  for (const query of queries) {
    const { told } = await ask({ query, as: key.ref })
    const { status } = await app.send({ if: true, then: query, else: 0 }, { secret: key.secret })
    assert.equal(told.errors !== undefined, status >= 400, JSON.stringify(query))
    for (const { allowed, decided_by } of told.decisions) assert.equal(allowed, decided_by !== 'nothing')
  }
})

test('only administrators may request explanations, and invalid requests are reported', async () => {
  assert.equal((await ask({ query: 1, as: 'client' }, key.secret)).status, 403)
  assert.equal((await ask({ query: 1, as: 'client' }, 'nobody')).status, 401)
  assert.equal((await ask({ as: 'client' })).status, 400)
  assert.equal((await ask({ query: 1, as: 'nobody' })).status, 400)
  assert.equal((await ask({ query: 1, as: user('77') })).status, 400)
  assert.equal((await ask({ query: { get: 1, got: 2 }, as: 'client' })).status, 400)
})
