// Attempts to reach another tenant's data, at least one with each function of the language that can reach data, with the
// rights that each attempt needs.

import { type Belongings, documentId, markerOf, namesOf, password } from './tenants.ts'

type Wire = unknown

/** A right: the kind of resource, and the action. */
export type Right =
  | `read ${'documents' | 'index' | Native}`
  | 'history_read documents'
  | `${'write' | 'create' | 'delete' | 'history_write'} documents`
  | `${'create' | 'write' | 'delete'} ${Native}`
  | 'call function'
  /** The right is checked in the database of the query, not in the database that is moved. */
  | 'move databases'
  /** A right that every caller has in its own database. */
  | 'be there'

export const natives = [
  'databases',
  'collections',
  'indexes',
  'functions',
  'roles',
  'keys',
  'tokens',
  'credentials',
  'access_providers',
] as const
export type Native = (typeof natives)[number]

/** The result of a probe. */
export interface Outcome {
  readonly status: number
  readonly text: string
}

export interface Probe {
  readonly query: Wire
  readonly needs: readonly Right[]
  /** The probe needs no scope, because a secret identifies its own database. */
  readonly findsItself?: boolean
  /** Without a scope, the name is valid in every database and refers to an object of the caller. */
  readonly isEverywhere?: boolean
  /** True if the answer reveals the data, or the write succeeded. */
  readonly reaches: (outcome: Outcome) => boolean
}

/** The form in which a probe names the objects of a tenant from another database. */
export interface Names {
  readonly tenant: string
  /** The database in which the objects are looked up; by default the caller's. */
  readonly scope: Wire | undefined
  /** The objects are named by calls such as `{"collection": …}`, or by literal references. */
  readonly form: 'calls' | 'literals'
  readonly belongings: Belongings
}

const kindOfConstructor: Record<string, string> = {
  database: 'databases',
  collection: 'collections',
  class: 'collections',
  index: 'indexes',
  function: 'functions',
  role: 'roles',
  access_provider: 'access_providers',
}

const literal = (id: string, collection: Wire, database?: Wire): Wire => ({
  '@ref': {
    id,
    ...(collection !== undefined && { collection }),
    ...(database !== undefined && { database }),
  },
})

/** References to the objects of a tenant. */
function referencesOf({ belongings, form, scope, tenant }: Names) {
  const names = namesOf(tenant)
  const named = (kind: string, name: string): Wire => {
    if (form === 'calls') return { [kind]: name, ...(scope !== undefined && { scope }) }
    return literal(name, literal(kindOfConstructor[kind] as string, undefined), scope)
  }
  const nativeSet = (native: Native): Wire =>
    form === 'calls' ? { [native]: scope ?? null } : literal(native, undefined, scope)
  const numbered = (collection: Wire, id: string): Wire =>
    form === 'calls' ? { ref: collection, id } : literal(id, collection)
  const things = named('collection', names.things)
  return {
    named,
    nativeSet,
    things,
    thing: numbered(things, documentId),
    index: (name: string) => named('index', name),
    tell: named('function', names.tell),
    lodger: named('database', names.lodger),
    reader: named('role', names.reader),
    provider: named('access_provider', names.provider),
    key: numbered(nativeSet('keys'), belongings.keyId),
    token: numbered(nativeSet('tokens'), belongings.tokenId),
    credentials: numbered(nativeSet('credentials'), belongings.credentialsId),
  }
}

const object = (fields: Record<string, Wire>): Wire => ({ object: fields })
const getAll = (set: Wire): Wire => ({
  map: { lambda: 'each', expr: { get: { var: 'each' } } },
  collection: { paginate: set },
})

const isDone = ({ status }: Outcome): boolean => status < 300
const answers = (value: unknown) => (outcome: Outcome) =>
  isDone(outcome) && JSON.parse(outcome.text).resource === value

/** All probes of a tenant's objects, by the function that they test. */
export function probesOf(names: Names): Readonly<Record<string, readonly Probe[]>> {
  return { ...readingProbes(names), ...writingProbes(names) }
}

function readingProbes(names: Names): Record<string, readonly Probe[]> {
  const { belongings, tenant } = names
  const refs = referencesOf(names)
  const own = namesOf(tenant)
  const marker = markerOf(tenant)
  const showsMarker = (outcome: Outcome) => isDone(outcome) && outcome.text.includes(marker)
  const markers = { match: refs.index(own.markers) }
  const documents = { documents: refs.things }
  const history: readonly Right[] = ['history_read documents']
  const set: readonly Right[] = ['read index', 'read documents']
  const probe = (query: Wire, needs: readonly Right[], reaches = showsMarker): Probe => ({
    query,
    needs,
    reaches,
  })
  const page = (query: Wire, needs: readonly Right[] = set) => [probe({ paginate: query }, needs)]
  const getNamed = (kind: string, name: string, native: Native) => [
    probe({ get: refs.named(kind, name) }, [`read ${native}`]),
  ]
  const probes: Record<string, readonly Probe[]> = {
    call: [probe({ call: refs.tell, arguments: [] }, ['call function'])],
    at: [probe({ at: { now: null }, expr: { get: refs.thing } }, ['read documents'])],
    get: [
      probe({ get: refs.thing }, ['read documents']),
      probe({ get: markers }, set, isDone),
      probe({ get: refs.key }, ['read keys']),
      probe({ get: refs.token }, ['read tokens']),
      probe({ get: refs.credentials }, ['read credentials']),
    ],
    exists: [
      probe({ exists: refs.thing }, ['read documents'], answers(true)),
      probe({ exists: refs.key }, ['read keys'], answers(true)),
      probe({ exists: refs.token }, ['read tokens'], answers(true)),
    ],
    select: [probe({ select: ['data', 'marker'], from: { get: refs.thing } }, ['read documents'])],
    ref: [probe({ get: { ref: refs.things, id: documentId } }, ['read documents'])],
    database: getNamed('database', own.lodger, 'databases'),
    collection: getNamed('collection', own.things, 'collections'),
    class: getNamed('class', own.things, 'collections'),
    index: getNamed('index', own.markers, 'indexes'),
    function: getNamed('function', own.tell, 'functions'),
    role: getNamed('role', own.reader, 'roles'),
    access_provider: getNamed('access_provider', own.provider, 'access_providers'),
    match: page(markers),
    documents: [probe(getAll(documents), ['read documents'])],
    singleton: [probe(getAll({ singleton: refs.thing }), ['read documents', ...history])],
    events: [probe({ paginate: { events: refs.thing } }, history)],
    union: page({ union: [markers, markers] }),
    intersection: page({ intersection: [markers, markers] }),
    difference: page({ difference: [markers, { match: refs.index(own.byMarker), terms: 'none' }] }),
    distinct: page({ distinct: markers }),
    join: page({ join: documents, with: refs.index(own.byRef) }),
    range: page({ range: markers, from: [], to: [] }),
    reverse: page({ reverse: markers }),
    filter: page({ filter: { lambda: '_', expr: true }, collection: markers }),
    paginate: [
      ...page(markers),
      probe({ paginate: markers, events: true }, set),
      probe({ paginate: markers, cursor: object({ before: null }) }, set),
      probe({ paginate: refs.thing, events: true }, history),
    ],
    first: [probe({ first: markers }, set)],
    last: [probe({ last: markers }, set)],
    reduce: [
      probe(
        { reduce: { lambda: ['_', 'each'], expr: { var: 'each' } }, initial: '', collection: markers },
        set,
      ),
    ],
    count: [probe({ count: markers }, set, answers(1))],
    sum: [probe({ sum: { match: refs.index(own.numbers) } }, set, answers(7))],
    mean: [probe({ mean: { match: refs.index(own.numbers) } }, set, answers(7))],
    max: [probe({ max: markers }, set)],
    min: [probe({ min: markers }, set)],
    any: [probe({ any: { match: refs.index(own.flags) } }, set, answers(true))],
    all: [probe({ all: { match: refs.index(own.flags) } }, set, answers(true))],
    is_empty: [probe({ is_empty: markers }, set, answers(false))],
    is_nonempty: [probe({ is_nonempty: markers }, set, answers(true))],
    contains_value: [probe({ contains_value: marker, in: markers }, set, answers(true))],
    identify: [probe({ identify: refs.thing, password }, ['be there'], answers(true))],
    key_from_secret: [
      { ...probe({ key_from_secret: belongings.keySecret }, ['read keys']), findsItself: true },
      { ...probe({ key_from_secret: belongings.tokenSecret }, ['read tokens']), findsItself: true },
    ],
  }
  for (const native of natives) {
    probes[native] = [probe(getAll(refs.nativeSet(native)), [`read ${native}`])]
  }
  probes.classes = [probe(getAll({ classes: names.scope ?? null }), ['read collections'])]
  return probes
}

function writingProbes(names: Names): Record<string, readonly Probe[]> {
  const refs = referencesOf(names)
  /** A write that is aborted at once: it succeeded if only the abort stopped it. */
  const write = (query: Wire, ...needs: Right[]): Probe => ({
    query: { do: [query, { abort: 'taken back' }] },
    needs,
    reaches: ({ text }) => text.includes('"transaction aborted"'),
  })
  const params = object({ data: object({ n: 1 }) })
  const create = (native: Native, fields: Record<string, Wire>): Probe => ({
    ...write({ create: refs.nativeSet(native), params: object(fields) }, `create ${native}`),
    isEverywhere: true,
  })
  const ts = { now: null }
  const objects: readonly (readonly [Native, Wire])[] = [
    ['databases', refs.lodger],
    ['collections', refs.things],
    ['indexes', refs.index(namesOf(names.tenant).markers)],
    ['functions', refs.tell],
    ['roles', refs.reader],
    ['keys', refs.key],
    ['tokens', refs.token],
    ['credentials', refs.credentials],
    ['access_providers', refs.provider],
  ]
  return {
    create: [
      write({ create: refs.things, params }, 'create documents'),
      write(
        { create: refs.things, params: object({ credentials: object({ password }) }) },
        'create documents',
      ),
      {
        ...write(
          { create: refs.nativeSet('tokens'), params: object({ instance: refs.thing }) },
          'create tokens',
        ),
        isEverywhere: true,
      },
      create('databases', { name: 'made' }),
      create('collections', { name: 'made' }),
      create('indexes', { name: 'made', source: { collections: null } }),
      create('functions', { name: 'made', body: { query: { lambda: '_', expr: 1 } } }),
      create('roles', { name: 'made' }),
      create('keys', { role: 'client' }),
      create('access_providers', { name: 'made', issuer: 'made', jwks_uri: 'https://made.example/' }),
    ],
    update: [
      write({ update: refs.thing, params }, 'write documents'),
      ...objects.map(([native, ref]) => write({ update: ref, params }, `write ${native}`)),
    ],
    replace: [write({ replace: refs.thing, params }, 'write documents')],
    delete: [
      write({ delete: refs.thing }, 'delete documents'),
      ...objects.map(([native, ref]) => write({ delete: ref }, `delete ${native}`)),
    ],
    insert: [write({ insert: refs.thing, ts, action: 'create', params }, 'history_write documents')],
    remove: [write({ remove: refs.thing, ts: 1, action: 'create' }, 'history_write documents')],
    move_database: [
      // A database cannot be moved into itself, whatever its name; the error shows whether the caller may try.
      {
        query: { move_database: refs.lodger, to: refs.lodger },
        needs: ['move databases'],
        reaches: ({ text }) => text.includes('"move database error"'),
      },
    ],
    login: [write({ login: refs.thing, params: object({ password }) }, 'be there')],
  }
}
