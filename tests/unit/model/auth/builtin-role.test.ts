// The matrix of the built-in roles: every role × kind of resource × action × database. The expected rights are written
// here independently of the implementation. Rights that the table omits are denied.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createAccess } from '../../../../src/model/auth/access.ts'
import { type Authority, builtinRoles, resourceActions } from '../../../../src/model/auth/access-contract.ts'
import { isBuiltinRole } from '../../../../src/model/auth/builtin-role.ts'
import { type DatabaseId, native, Ref, rootDatabase } from '../../../../src/values/value.ts'
import { World } from './support.ts'

const world = new World()
const own = (await world.database('own')).id
const child = (await world.database('child', own)).id
const grandchild = (await world.database('grandchild', child)).id
const sibling = (await world.database('sibling')).id
after(() => world.close())

const read = 'read history_read'
const write = 'write create create_with_id delete history_write'

/** Kind of resource → [actions in the own database, actions in descendant databases]. */
type Table = Record<string, readonly [own: string, below: string]>

const none: Table = {}

const serverKinds: Table = {
  documents: [`${read} ${write}`, read],
  index: [read, read],
  function: ['call', 'call'],
  collections: [`${read} ${write}`, read],
  indexes: [`${read} ${write}`, read],
  functions: [`${read} ${write}`, read],
  tokens: [`${read} ${write}`, read],
  credentials: [`${read} ${write}`, read],
}

const expected: Record<string, Table> = {
  admin: {
    ...serverKinds,
    databases: [`${read} ${write}`, read],
    keys: [`${read} ${write}`, read],
    roles: [`${read} ${write}`, read],
    access_providers: [`${read} ${write}`, read],
  },
  server: serverKinds,
  'server-readonly': {
    documents: [read, read],
    index: [read, read],
    collections: [read, read],
    indexes: [read, read],
    functions: [read, read],
    tokens: [read, read],
    credentials: [read, read],
  },
  client: none,
  'a predicate': {
    documents: ['read unrestricted_read', ''],
    index: ['read unrestricted_read', ''],
    function: ['call', ''],
    collections: ['read', ''],
    indexes: ['read', ''],
    functions: ['read', ''],
    tokens: ['read', ''],
    credentials: ['read', ''],
  },
  'no role': none,
}

function authorityOf(name: string): Authority {
  if (isBuiltinRole(name)) return { kind: 'builtin', role: name, database: own }
  if (name === 'a predicate') return { kind: 'predicate', database: own }
  return { kind: 'roles', database: own, roles: [], identity: undefined }
}

function resources(database: DatabaseId): Record<string, Ref> {
  const kinds: Record<string, Ref> = {
    documents: new Ref(database, native.collections, 1024n),
    index: new Ref(database, native.indexes, 32_768n),
    function: new Ref(database, native.functions, 5n),
    // No privilege names these, so nobody has any right to them.
    'a key': new Ref(database, native.keys, 5n),
    'a document': new Ref(database, 1024, 5n),
    'an unknown native collection': new Ref(database, native.collections, 99n),
  }
  for (const [name, id] of Object.entries(native)) {
    kinds[name] = new Ref(database, native.collections, BigInt(id))
  }
  return kinds
}

const databases = { own, child, grandchild, sibling, parent: rootDatabase, missing: 77n }

for (const [role, table] of Object.entries(expected)) {
  test(`the rights of ${role}`, () => {
    const wrong: string[] = []
    let granted = 0
    world.bench.read(transaction => {
      const access = createAccess(authorityOf(role), transaction, () => assert.fail('no predicates here'))
      for (const [where, database] of Object.entries(databases)) {
        for (const [kind, resource] of Object.entries(resources(database))) {
          const [inOwn = '', below = ''] = table[kind] ?? []
          const rights = where === 'own' ? inOwn : where === 'child' || where === 'grandchild' ? below : ''
          for (const action of resourceActions) {
            const may = rights.split(' ').includes(action)
            const answer = access.allows({ action, resource, argument: () => null })
            if (answer !== may) wrong.push(`${action} ${kind} in ${where}: ${answer}`)
            if (answer) granted++
          }
        }
      }
    })
    assert.deepEqual(wrong, [])
    assert.equal(granted > 0, Object.keys(table).length > 0)
  })
}

test('the table covers every built-in role', () => {
  const missing = builtinRoles.filter(role => !(role in expected))
  assert.deepEqual(missing, [])
})
