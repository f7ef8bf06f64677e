// Four databases of four tenants with the same content. Some are children of others, some are siblings. All stored
// values contain the tenant's marker, so that a marker in an answer identifies the owner of the data.

import { openTestEngine, type TestEngine } from '../support/engine.ts'

/** The path of each tenant's database, below the root. */
export const tenants = {
  outer: ['outer'],
  own: ['outer', 'own'],
  neighbour: ['outer', 'neighbour'],
  inner: ['outer', 'own', 'inner'],
} as const satisfies Record<string, readonly string[]>

export type Tenant = keyof typeof tenants
export const tenantNames = Object.keys(tenants) as Tenant[]

export const roles = ['admin', 'server', 'server-readonly', 'client', 'custom role', 'token'] as const
export type RoleName = (typeof roles)[number]

/** Ids and secrets of objects without names. */
export interface Belongings {
  readonly keyId: string
  readonly tokenId: string
  readonly credentialsId: string
  readonly keySecret: string
  readonly tokenSecret: string
}

export interface World {
  readonly engine: TestEngine
  readonly belongings: Readonly<Record<Tenant, Belongings>>
  /** The secret of a caller with this role in this database. */
  secretOf(tenant: Tenant, role: RoleName): string
}

export const documentId = '7'
export const password = 'a password'
export const markerOf = (tenant: string): string => `MARKER_${tenant}`

type Wire = unknown
const object = (fields: Record<string, Wire>): Wire => ({ object: fields })
const field = (...path: string[]): Wire => object({ field: path })

/** The unique names of a tenant's objects. */
export function namesOf(tenant: string) {
  return {
    things: `things_${tenant}`,
    markers: `markers_${tenant}`,
    byRef: `by_ref_${tenant}`,
    byMarker: `by_marker_${tenant}`,
    numbers: `numbers_${tenant}`,
    flags: `flags_${tenant}`,
    tell: `tell_${tenant}`,
    reader: `reader_${tenant}`,
    provider: `provider_${tenant}`,
    lodger: `lodger_${tenant}`,
  }
}

/** Creates the databases, their contents and a caller for each role in each of them. */
export async function openWorld(): Promise<World> {
  const engine = openTestEngine()
  const admin: Record<string, string> = {}
  for (const [tenant, path] of Object.entries(tenants)) {
    const parent = admin[path.at(-2) ?? '']
    const secret = parent === undefined ? {} : { secret: parent }
    const data = object({ marker: markerOf(path.at(-2) ?? 'root') })
    await engine.query({ create_database: object({ name: tenant, data }) }, secret)
    const key = object({ role: 'admin', database: { database: tenant } })
    admin[tenant] = ((await engine.query({ create_key: key }, secret)) as { secret: string }).secret
  }
  const filled = new Map<string, TenantSecrets>()
  for (const tenant of tenantNames) filled.set(tenant, await fill(engine, tenant, admin[tenant] as string))
  const of = (tenant: Tenant) => filled.get(tenant) as TenantSecrets
  return {
    engine,
    belongings: {
      outer: of('outer').belongings,
      own: of('own').belongings,
      neighbour: of('neighbour').belongings,
      inner: of('inner').belongings,
    },
    secretOf: (tenant, role) => of(tenant).secrets[role],
  }
}

interface TenantSecrets {
  readonly belongings: Belongings
  readonly secrets: Readonly<Record<RoleName, string>>
}

interface CreatedDocument {
  readonly ref: { readonly '@ref': { readonly id: string } }
  readonly secret: string
}

async function fill(engine: TestEngine, tenant: Tenant, secret: string): Promise<TenantSecrets> {
  const run = (query: Wire) => engine.query(query as object, { secret }) as Promise<CreatedDocument>
  const names = namesOf(tenant)
  const data = object({ marker: markerOf(tenant), number: 7, flag: true })
  await run({ create_collection: object({ name: names.things, data }) })
  const thing = { ref: { collection: names.things }, id: documentId }
  const source = { collection: names.things }
  const marker = field('data', 'marker')
  const indexes: Record<string, Record<string, Wire>> = {
    [names.markers]: { values: [marker] },
    [names.byRef]: { terms: [field('ref')], values: [marker] },
    [names.byMarker]: { terms: [marker], values: [marker] },
    [names.numbers]: { values: [field('data', 'number')] },
    [names.flags]: { values: [field('data', 'flag')] },
  }
  for (const [name, rest] of Object.entries(indexes)) {
    await run({ create_index: object({ name, source, data, ...rest }) })
  }
  await run({ create: thing, params: object({ data, credentials: object({ password }) }) })
  const body = { query: { lambda: '_', expr: markerOf(tenant) } }
  await run({ create_function: object({ name: names.tell, body, data }) })
  const may = (resource: Wire, action: string) => object({ resource, actions: object({ [action]: true }) })
  const privileges = [
    may(source, 'read'),
    may({ function: names.tell }, 'call'),
    ...Object.keys(indexes).map(name => may({ index: name }, 'read')),
  ]
  await run({ create_role: object({ name: names.reader, privileges, data }) })
  const uri = `https://${tenant}.example/keys`
  const provider = { name: names.provider, issuer: `issuer ${markerOf(tenant)}`, jwks_uri: uri, data }
  await run({ create_access_provider: object(provider) })
  await run({ create_database: object({ name: names.lodger, data }) })
  const key = await run({ create_key: object({ role: 'client', data }) })
  const token = await run({ create: { tokens: null }, params: object({ instance: thing, data }) })
  const bystander = await run({ create: source })
  const credentials = await run({
    create: { credentials: null },
    params: object({ instance: { ref: source, id: bystander.ref['@ref'].id }, password, data }),
  })
  const secretOf = async (role: Wire) => (await run({ create_key: object({ role }) })).secret
  const loner = await run({ create: source })
  const someone = await run({
    create: { tokens: null },
    params: object({ instance: { ref: source, id: loner.ref['@ref'].id } }),
  })
  return {
    belongings: {
      keyId: key.ref['@ref'].id,
      tokenId: token.ref['@ref'].id,
      credentialsId: credentials.ref['@ref'].id,
      keySecret: key.secret,
      tokenSecret: token.secret,
    },
    secrets: {
      admin: await secretOf('admin'),
      server: await secretOf('server'),
      'server-readonly': await secretOf('server-readonly'),
      client: await secretOf('client'),
      'custom role': await secretOf({ role: names.reader }),
      token: someone.secret,
    },
  }
}
