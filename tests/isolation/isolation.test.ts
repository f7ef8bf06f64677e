// Isolation of tenants: each function of the language is called from each database of the hierarchy, with each kind of
// credential, on the data of each database.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { epoch } from '../../src/base/micros.ts'
import { families } from '../../src/fql4/functions/registry.ts'
import { native } from '../../src/values/value.ts'
import { type Names, type Probe, probesOf, type Right } from './probes.ts'
import { markerOf, openWorld, type RoleName, roles, type Tenant, tenantNames, tenants } from './tenants.ts'

const world = await openWorld()
const baseline = world.engine.store.changes(epoch, Number.MAX_SAFE_INTEGER).length
after(() => world.engine.close())

// The rights of each credential in its own database and its descendants. All other rights are denied.

const readsOf = (...kinds: string[]): string[] => kinds.map(kind => `read ${kind}`)
const writesOf = (...kinds: string[]): string[] =>
  kinds.flatMap(kind => ['create', 'write', 'delete'].map(action => `${action} ${kind}`))
const schemaKinds = ['collections', 'indexes', 'functions', 'tokens', 'credentials'] as const
const adminKinds = ['databases', 'keys', 'roles', 'access_providers'] as const
const reading = ['history_read documents', ...readsOf('documents', 'index', ...schemaKinds)]
const writing = [
  ...['write', 'create', 'delete', 'history_write'].map(action => `${action} documents`),
  ...writesOf(...schemaKinds),
]
const administration = [...writesOf(...adminKinds), 'move databases']

const rights: Readonly<
  Record<RoleName, { readonly here: readonly string[]; readonly below: readonly string[] }>
> = {
  admin: {
    here: ['be there', 'call function', ...reading, ...readsOf(...adminKinds), ...writing, ...administration],
    below: ['call function', 'move databases', ...reading, ...readsOf(...adminKinds)],
  },
  server: {
    here: ['be there', 'call function', ...reading, ...writing],
    below: ['call function', ...reading],
  },
  'server-readonly': { here: ['be there', ...reading], below: reading },
  client: { here: ['be there'], below: [] },
  'custom role': { here: ['be there', 'call function', ...readsOf('documents', 'index')], below: [] },
  token: { here: ['be there'], below: [] },
}

type Relation = 'here' | 'below' | 'elsewhere'

function relation(from: Tenant, to: Tenant): Relation {
  if (from === to) return 'here'
  const path: readonly string[] = tenants[to]
  return path.includes(from) ? 'below' : 'elsewhere'
}

function mayReach(role: RoleName, where: Relation, needs: readonly Right[]): boolean {
  return where !== 'elsewhere' && needs.every(need => rights[role][where].includes(need))
}

const isTenant = (name: string): name is Tenant => Object.hasOwn(tenants, name)

/** The name of a database relative to another one: the path down to it, or its bare name if there is no path. */
function scopeFrom(from: Tenant, to: string, form: Names['form']): unknown {
  const path: readonly string[] = isTenant(to) ? tenants[to] : []
  const below = path.includes(from) ? path.slice(path.indexOf(from) + 1) : [to]
  const inside = (outer: unknown, name: string): unknown =>
    form === 'calls'
      ? { database: name, ...(outer !== undefined && { scope: outer }) }
      : {
          '@ref': {
            id: name,
            collection: { '@ref': { id: 'databases' } },
            ...(outer !== undefined && { database: outer }),
          },
        }
  return below.reduce(inside, undefined)
}

async function run(from: Tenant, role: RoleName, query: unknown) {
  const secret = world.secretOf(from, role)
  const { body, status } = await world.engine.send(query as object, { secret })
  return { status, text: body }
}

const forms = ['calls', 'literals'] as const

/** All forms in which a caller can try to name the objects of a tenant. */
function namings(from: Tenant, to: Tenant): (Names & { readonly where: Relation })[] {
  const belongings = world.belongings[to]
  const where = relation(from, to)
  return forms.flatMap(form => {
    const unscoped = { tenant: to, scope: undefined, form, belongings }
    if (from === to) return [{ ...unscoped, where }]
    return [
      { ...unscoped, scope: scopeFrom(from, to, form), where },
      // Without a scope, names and ids refer to the caller's own database, where these objects do not exist.
      { ...unscoped, where: 'elsewhere' as const },
    ]
  })
}

/** Returns whether an unscoped name refers to an object of the caller: every database has an object of that name. */
function isOwn(probe: Probe, { scope, tenant }: Names, from: Tenant): boolean {
  return probe.isEverywhere === true && scope === undefined && tenant !== from
}

for (const from of tenantNames) {
  for (const role of roles) {
    test(`data that a caller with the role ${role} of ${from} can access`, async () => {
      const wrong: string[] = []
      const check = async (
        name: string,
        { needs, query, reaches, findsItself }: Probe,
        where: Relation,
        to: Tenant,
      ) => {
        const outcome = await run(from, role, query)
        const may = mayReach(role, findsItself ? relation(from, to) : where, needs)
        const leaks =
          !may && outcome.text.includes(markerOf(to)) && !JSON.stringify(query).includes(markerOf(to))
        if (reaches(outcome) === may && !leaks && outcome.status < 500) return
        const text = `${JSON.stringify(query)} answered ${outcome.status} ${outcome.text}`
        wrong.push(`${name} of ${to} (${where}) ${may ? 'may be reached' : 'may not be reached'}: ${text}`)
      }
      for (const to of tenantNames) {
        for (const naming of namings(from, to)) {
          for (const [name, probes] of Object.entries(probesOf(naming)))
            for (const probe of probes)
              if (!isOwn(probe, naming, from)) await check(name, probe, naming.where, to)
        }
      }
      assert.deepEqual(wrong, [])
    })
  }
}

test('objects in other databases look like missing objects', async () => {
  const plain = (text: string) => text.replaceAll(/nowhere|neighbour/g, 'X').replaceAll(/\d{6,}/g, '#')
  const nothing = { keyId: '123456789', tokenId: '123456789', credentialsId: '123456789' }
  for (const role of roles) {
    for (const form of forms) {
      const of = (tenant: string, belongings: Names['belongings']) =>
        probesOf({ tenant, form, belongings, scope: scopeFrom('own', tenant, form) })
      const secrets = { keySecret: 'fnAnowhere', tokenSecret: 'fnEnowhere' }
      const nowhere = of('nowhere', { ...nothing, ...secrets })
      for (const [name, probes] of Object.entries(of('neighbour', world.belongings.neighbour))) {
        // The answer contains the secret itself.
        if (name === 'key_from_secret') continue
        for (const [index, probe] of probes.entries()) {
          const elsewhere = await run('own', role, probe.query)
          const missing = await run('own', role, nowhere[name]?.[index]?.query)
          assert.equal(plain(elsewhere.text), plain(missing.text), `${name} as ${role}`)
        }
      }
    }
  }
})

test('the probes have written nothing', () => {
  assert.equal(world.engine.store.changes(epoch, Number.MAX_SAFE_INTEGER).length, baseline)
  assert.deepEqual(world.engine.store.check(), [])
})

/** Functions with references that cannot lead to another tenant's data, each with the reason. */
const harmless: Readonly<Record<string, string>> = {
  if: 'evaluates what is given to it',
  do: 'evaluates what is given to it',
  query: 'keeps an expression',
  abort: 'ends the query',
  foreach: 'applies a lambda to elements it is given',
  map: 'applies a lambda to elements it is given',
  merge: 'puts objects together that it is given',
  new_id: 'makes a number',
  next_id: 'makes a number',
  create_database: 'creates where the caller is; create with the native collection is the same',
  create_collection: 'as above',
  create_class: 'as above',
  create_index: 'as above',
  create_function: 'as above',
  create_role: 'as above',
  create_key: 'as above',
  create_access_provider: 'as above',
  logout: "deletes the caller's own tokens",
  current_identity: 'speaks of the caller',
  identity: 'speaks of the caller',
  has_current_identity: 'speaks of the caller',
  has_identity: 'speaks of the caller',
  current_token: 'speaks of the caller',
  has_current_token: 'speaks of the caller',
}

/** Families whose functions compute from plain values. */
const computing = new Set([
  'Logic',
  'Comparison',
  'Numbers',
  'Trigonometry',
  'Bits',
  'Strings',
  'Regular expressions',
  'Formatting',
  'Time',
  'Conversions',
  'Type checks',
  'Elements',
  'Objects',
])

test('every function has a verdict', () => {
  const probed = new Set(Object.keys(probesOf({ ...(namings('own', 'own')[0] as Names) })))
  const undecided = families
    .flatMap(family => family.definitions)
    .filter(({ name }) => !probed.has(name) && !(name in harmless))
    .filter(({ effect, family }) => effect !== 'pure' || !computing.has(family))
    .map(({ family, name }) => `${name} (${family})`)
  assert.deepEqual(undecided, [])
  const natives = Object.keys(native)
  const unprobed = natives.filter(name => !probed.has(name))
  assert.deepEqual(unprobed, [])
})
