// Custom roles: privileges, predicates with their arguments, unions, and what every identity may do.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createAccess } from '../../../../src/model/auth/access.ts'
import type { Authority, ResourceAction } from '../../../../src/model/auth/access-contract.ts'
import { authorityOfRole } from '../../../../src/model/auth/role.ts'
import { native, Ref, rootDatabase, Time, type Value } from '../../../../src/values/value.ts'
import { object, predicate, World } from './support.ts'

const world = new World()
const things = await world.collection('things')
const others = await world.collection('others')
const thing = await world.document(things)
after(() => world.close())

/** Runs predicates named `yes` as true, others as false, and records their arguments. */
function decide(
  authority: Authority,
  action: ResourceAction,
  resource: Ref,
  more: { document?: Ref; argument?: (parameterCount: number) => Value } = {},
): { allowed: boolean; given: Value[] } {
  const given: Value[] = []
  const allowed = world.bench.read(transaction => {
    const access = createAccess(authority, transaction, (predicate, argument) => {
      if (predicate.language !== '4') return false
      const { body, parameters } = predicate
      given.push(argument(typeof parameters === 'string' ? 1 : parameters.length))
      return body === 'yes'
    })
    return access.allows({ action, resource, argument: () => null, ...more })
  })
  return { allowed, given }
}

function withRoles(...roles: Ref[]): Authority {
  return { kind: 'roles', database: rootDatabase, roles, identity: undefined }
}

async function roleWith(actions: Record<string, Value>, resource: Value = things): Promise<Ref> {
  const privileges = object({ resource, actions: object(actions) })
  return world.role(`role ${world.newId()}`, { privileges })
}

test('only actions named by a privilege are allowed', async () => {
  const authority = withRoles(await roleWith({ read: true, write: false, call: 1n, delete: 'yes' }))
  assert.equal(decide(authority, 'read', things).allowed, true)
  for (const action of ['write', 'create', 'call', 'delete', 'history_read'] as const)
    assert.equal(decide(authority, action, things).allowed, false, action)
  assert.equal(decide(authority, 'read', others).allowed, false)
  assert.equal(decide(authority, 'read', new Ref(5n, native.collections, things.id)).allowed, false)
})

test('an index, a function and a native collection are separate resources', async () => {
  for (const resource of [
    new Ref(rootDatabase, native.indexes, things.id),
    new Ref(rootDatabase, native.functions, things.id),
    new Ref(rootDatabase, native.collections, BigInt(native.roles)),
  ]) {
    const authority = withRoles(await roleWith({ read: true }, resource))
    assert.equal(decide(authority, 'read', resource).allowed, true)
    assert.equal(decide(authority, 'read', things).allowed, false)
  }
})

test('several roles and privileges are combined; true needs no predicate', async () => {
  const never = await roleWith({ read: predicate('no') })
  const always = await roleWith({ read: true })
  const twice = await world.role('twice', {
    privileges: [
      object({ resource: things, actions: object({ read: predicate('no') }) }),
      object({ resource: others, actions: object({ read: true }) }),
      object({ resource: things, actions: object({ read: predicate('yes') }) }),
    ],
  })
  assert.equal(decide(withRoles(never), 'read', things).allowed, false)
  assert.deepEqual(decide(withRoles(never, always), 'read', things), { allowed: true, given: [] })
  assert.equal(decide(withRoles(never, twice), 'read', things).given.length, 3)
  assert.equal(decide(withRoles(never, twice), 'read', things).allowed, true)
})

test('a predicate gets the arguments for its parameters', async () => {
  const counts: number[] = []
  const argument = (count: number): Value => {
    counts.push(count)
    return BigInt(count)
  }
  const write = {
    one: await roleWith({ write: predicate('yes', 'all') }),
    two: await roleWith({ write: predicate('yes', ['old', 'new']) }),
    three: await roleWith({ write: predicate('yes', ['old', 'new', 'ref']) }),
  }
  for (const role of [write.one, write.two, write.three])
    assert.equal(decide(withRoles(role), 'write', things, { argument }).allowed, true)
  assert.deepEqual(counts, [1, 2, 3])
})

test('create and history_write together replace create_with_id', async () => {
  const fields = object({ data: object({ a: 1n }) })
  const more = { document: thing, argument: (count: number) => (count === 2 ? [fields, thing] : fields) }
  const create = await roleWith({ create: predicate('yes', 'fields') })
  const history = await roleWith({ history_write: predicate('yes', ['ref', 'ts', 'action', 'fields']) })
  assert.equal(decide(withRoles(create), 'create_with_id', things, more).allowed, false)
  assert.equal(decide(withRoles(history), 'create_with_id', things, more).allowed, false)
  const { allowed, given } = decide(withRoles(create, history), 'create_with_id', things, more)
  assert.equal(allowed, true)
  assert.equal(given[0], fields)
  const [ref, ts, action, written] = given[1] as Value[]
  assert.deepEqual([ref, action, written], [thing, 'create', fields])
  assert.ok(ts instanceof Time)
  assert.equal(decide(withRoles(create, history), 'create', things, more).allowed, true)
  assert.equal(decide(withRoles(history), 'create', things, more).allowed, false)
})

test('a deleted role contributes nothing', async () => {
  const role = await roleWith({ read: true })
  assert.equal(decide(withRoles(role), 'read', things).allowed, true)
  await world.bench.delete(role)
  assert.equal(decide(withRoles(role), 'read', things).allowed, false)
})

test('a changed role applies from the next transaction on', async () => {
  const role = await roleWith({ read: true })
  assert.equal(decide(withRoles(role), 'read', things).allowed, true)
  await world.put(role, { name: 'changed', privileges: object({ resource: things, actions: object({}) }) })
  assert.equal(decide(withRoles(role), 'read', things).allowed, false)
})

test('invalid role documents grant nothing and cause no failure', async () => {
  const odd: Value[] = [
    null,
    'x',
    [],
    [null, 1n, 'x', []],
    object({}),
    object({ resource: 'no such thing', actions: object({ read: true }) }),
    object({ resource: things, actions: true }),
    object({ resource: things }),
    object({ resource: new Ref(9n, native.collections, things.id), actions: object({ read: true }) }),
  ]
  for (const privileges of odd) {
    const role = await world.role(`odd ${world.newId()}`, { privileges, membership: privileges })
    assert.equal(decide(withRoles(role), 'read', things).allowed, false)
  }
})

test('a resource may be named by a text, as in version 10', async () => {
  const privileges = object({ resource: 'things', actions: object({ read: true }) })
  const role = await world.role('by name', { privileges })
  assert.equal(decide(withRoles(role), 'read', things).allowed, true)
  assert.equal(decide(withRoles(role), 'read', others).allowed, false)
})

test('rights of every identity', async () => {
  const identity = await world.document(things)
  const stranger = await world.document(things)
  const ofSelf = await world.token(identity)
  const ofStranger = await world.token(stranger)
  const credential = (instance: Ref) =>
    world.put(new Ref(rootDatabase, native.credentials, world.newId()), { instance })
  const ownCredential = await credential(identity)
  const otherCredential = await credential(stranger)
  const tokens = new Ref(rootDatabase, native.collections, BigInt(native.tokens))
  const credentials = new Ref(rootDatabase, native.collections, BigInt(native.credentials))
  const unrelated = await roleWith({ create: true }, others)
  const rights = (roles: Ref[]) => {
    const authority: Authority = { kind: 'roles', database: rootDatabase, roles, identity }
    const targets = {
      'own token': [tokens, ofSelf.ref],
      "another's token": [tokens, ofStranger.ref],
      'own credential': [credentials, ownCredential],
      "another's credential": [credentials, otherCredential],
      'own document': [things, identity],
      "another's document": [things, stranger],
      'tokens as a whole': [tokens, undefined],
      // A reference with a false kind must not help.
      'a document said to be a token': [tokens, identity],
    } as const
    const granted: string[] = []
    for (const [name, [resource, document]] of Object.entries(targets)) {
      for (const action of ['read', 'write', 'create', 'delete', 'history_read'] as const) {
        if (decide(authority, action, resource, { ...(document && { document }) }).allowed)
          granted.push(`${action} ${name}`)
      }
    }
    return granted
  }
  const always = ['read own token', 'delete own token', 'read own credential']
  assert.deepEqual(rights([]), [...always, 'read own document'])
  assert.deepEqual(rights([unrelated]), always)
})

test('the stored role of a key or function', async () => {
  const inRoot = await world.role('shared', {})
  const second = await world.role('second', {})
  const child = (await world.database('role child')).id
  const inChild = await world.role('shared', {}, child)
  const of = (database: bigint, stored: Value | undefined) =>
    world.bench.read(transaction => authorityOfRole(transaction, database, stored))
  assert.deepEqual(of(child, 'server'), { kind: 'builtin', role: 'server', database: child })
  const custom = (database: bigint, ...roles: Ref[]) => ({
    kind: 'roles',
    database,
    roles,
    identity: undefined,
  })
  assert.deepEqual(of(rootDatabase, inRoot), custom(rootDatabase, inRoot))
  assert.deepEqual(of(rootDatabase, 'shared'), custom(rootDatabase, inRoot))
  assert.deepEqual(of(child, inRoot), custom(child, inChild))
  assert.deepEqual(of(child, 'shared'), custom(child, inChild))
  assert.deepEqual(
    of(rootDatabase, [inRoot, 'second', 'missing', 5n, thing]),
    custom(rootDatabase, inRoot, second),
  )
  // Built-in names are not roles inside an array, and nothing else is a role.
  for (const stored of [undefined, null, ['admin'], ['server', 'admin'], object({}), true, thing])
    assert.deepEqual(of(rootDatabase, stored), custom(rootDatabase))
})
