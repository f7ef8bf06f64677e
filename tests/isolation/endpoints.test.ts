// The access of each kind of credential to each endpoint. The list of endpoints comes from a service with all its
// parts, and the requests go to a running server. An endpoint without a row fails.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Services } from '../../src/server/http/endpoint.ts'
import { endpoints } from '../../src/server/http/routes.ts'
import { keyOfNewDatabase, query, send } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const part = {} as never
/** All services are enabled, so that the test covers every endpoint. */
const everything: Required<Services> = {
  engine: part,
  log: part,
  clock: part,
  random: part,
  timers: part,
  queryLog: part,
  transfer: part,
  publicUrl: part,
  dashboard: part,
  operation: part,
  recordsQueries: part,
  meter: part,
  ownFault: part,
  notice: new AbortController().signal,
  stopping: new AbortController().signal,
}

const nobodys = ['nobody', 'a wrong secret', 'a made-up key'] as const
const own = ['admin', 'server', 'server-readonly', 'client', 'custom role', 'token'] as const
const operators = ['root', 'account key'] as const
const everybody = [...nobodys, ...own, ...operators] as const
type Who = (typeof everybody)[number]

interface Row {
  readonly reach: readonly Who[]
  readonly body?: unknown
  /** A path with values for the named parts. */
  readonly path?: string
}

const plain = { add: [1, 2] }
const span = { time_start: '2026-01-01T00:00:00Z', time_end: '2026-01-02T00:00:00Z' }
const ofOwn = { ...span, database: 'us-std/own' }
const insiders: readonly Who[] = [...own, 'root']
const admins: readonly Who[] = ['admin', 'root']
const logReaders: readonly Who[] = ['admin', 'root', 'account key']
const schemaReaders: readonly Who[] = ['admin', 'server', 'server-readonly', 'root']
const madeUpSource = Buffer.concat([Buffer.of(2), Buffer.alloc(40)]).toString('base64url')
const page = { at: 1_000_000, collection: 'things', history: false, place: ['live', null] }

/** Callers that get another status than 401, 403 and 404. */
const rows: Readonly<Record<string, Row>> = {
  'GET /': { reach: insiders, path: '/?q=1' },
  'POST /': { reach: insiders, body: plain },
  'POST /query/1': { reach: insiders, body: { query: '1 + 2' } },
  'POST /linearized': { reach: insiders, body: plain },
  'GET /graphql': { reach: insiders, path: '/graphql?query=%7B__typename%7D' },
  'POST /graphql': { reach: insiders, body: { query: '{ __typename }' } },
  'GET /import': { reach: ['admin', 'server', 'server-readonly', 'root'] },
  // The body is no schema. Unauthorized callers get an error that does not reveal this.
  'POST /import': { reach: ['admin', 'server', 'root'], body: 'no schema' },
  'GET /authorized': { reach: insiders },
  // Only a token has a token document.
  'GET /tokens/self': { reach: ['token'] },
  // The query is not a document or set.
  'POST /stream': { reach: insiders, body: plain },
  // These texts look like event sources but are invalid. Authorized callers get an error that says so.
  'POST /feed/1': { reach: insiders, body: { token: madeUpSource } },
  'POST /stream/1': { reach: insiders, body: { token: madeUpSource } },
  'POST /api/v1/explain': { reach: admins, body: { query: plain, as: 'client' } },
  // There is no such index or collection. Unauthorized callers get an error that does not reveal this.
  'POST /api/v1/indexes/_size': { reach: [], body: { index: 'none' } },
  'POST /api/v1/collections/_size': { reach: [], body: { collection: 'none' } },
  'POST /api/v1/collections/_position': { reach: [], body: { collection: 'none', id: '1' } },
  'GET /api/v1/principal': { reach: insiders },
  'POST /api/v1/transfer/write': { reach: admins, body: { onConflict: 'keep' } },
  'POST /api/v1/transfer/missing': { reach: admins, body: { documents: [] } },
  'POST /api/v1/transfer/snapshot': { reach: admins },
  'POST /api/v1/transfer/page': { reach: admins, body: page },
  'POST /api/v1/logs': { reach: logReaders, body: ofOwn },
  'POST /api/v1/logs/_list': { reach: logReaders, body: {} },
  'GET /api/v1/logs/:id': { reach: logReaders },
  // The signature is the credential.
  'GET /api/v1/logs/files/:name': { reach: [] },
  'POST /api/v1/logs/_summary': { reach: logReaders, body: ofOwn },
  'POST /api/v1/logs/_records': { reach: logReaders, body: ofOwn },
  'POST /api/v1/logs/_changes': { reach: logReaders, body: ofOwn },
  'GET /api/v1/health': { reach: ['root'] },
  // The root secret gets an error, because no folder for backups is configured.
  'POST /api/v1/health/backups': { reach: [] },
  'POST /api/v1/health/checks': { reach: ['root'] },
  'GET /api/v1/account-keys': { reach: ['root'] },
  'POST /api/v1/account-keys': { reach: ['root'], body: { name: 'another' } },
  // The root secret gets an error, because there is no such id.
  'DELETE /api/v1/account-keys/:id': { reach: [] },
  // The path itself is not an endpoint.
  'GET /schema/1': { reach: [] },
  'POST /schema/1': { reach: [] },
  'DELETE /schema/1': { reach: [] },
  'GET /schema/1/*': { reach: schemaReaders, path: '/schema/1/files' },
  'POST /schema/1/*': { reach: admins, path: '/schema/1/update?override=false' },
  // There is no collection of that name.
  'DELETE /schema/1/*': { reach: [], path: '/schema/1/items/collections/none' },
  'POST /api/v1/check': { reach: ['root', 'admin', 'server'], body: { query: '1' } },
  'GET /environment/1': { reach: ['root', 'admin', 'server'] },
  'GET /dashboard/*': { reach: everybody, path: '/dashboard/' },
  'HEAD /dashboard/*': { reach: everybody, path: '/dashboard/' },
  'GET /dashboard': { reach: everybody },
  'HEAD /dashboard': { reach: everybody },
  'GET /ping': { reach: everybody },
  'HEAD /ping': { reach: everybody },
  'GET /error': { reach: everybody },
}

const server = serverOfFile()
const secrets = new Map<Who, string | undefined>([
  ['nobody', undefined],
  ['a wrong secret', 'wrong'],
  ['a made-up key', `fnA${'x'.repeat(37)}`],
])
before(async () => {
  const admin = await keyOfNewDatabase(server, 'own', 'admin')
  const run = (expression: unknown) => query(server, admin, expression) as Promise<{ secret: string }>
  await run({ create_collection: { object: { name: 'things' } } })
  await run({ create_role: { object: { name: 'reader' } } })
  const thing = { ref: { collection: 'things' }, id: '1' }
  await run({ create: thing })
  const token = await run({ create: { tokens: null }, params: { object: { instance: thing } } })
  for (const role of ['server', 'server-readonly', 'client'] as const)
    secrets.set(role, (await run({ create_key: { object: { role } } })).secret)
  const custom = await run({ create_key: { object: { role: { role: 'reader' } } } })
  const body = JSON.stringify({ name: 'pipeline' })
  const made = await send(server, { secret: server.rootSecret, path: '/api/v1/account-keys', body })
  secrets.set('admin', admin)
  secrets.set('token', token.secret)
  secrets.set('custom role', custom.secret)
  secrets.set('root', server.rootSecret)
  secrets.set('account key', (made.json as { secret: string }).secret)
})

const routes = endpoints(everything).flatMap(({ methods, path }) =>
  Object.keys(methods).map(method => ({ method, path, name: `${method} ${path}` })),
)

async function ask({ method, path, name }: (typeof routes)[number], secret: string | undefined) {
  const { body, path: given } = rows[name] as Row
  const answer = await send(server, {
    method,
    path: given ?? path.replace(/:\w+|\*$/, '1'),
    ...(secret !== undefined && { secret }),
    ...(method === 'POST' && { body: JSON.stringify(body ?? {}) }),
  })
  // As in the hosted service, errors about credentials have the status 200.
  const isRejected =
    path === '/graphql' && /Missing authorization header|Invalid database secret/.test(answer.text)
  return isRejected ? { ...answer, status: 401 } : answer
}

test('every endpoint has a row', () => {
  assert.deepEqual(routes.map(({ name }) => name).sort(), Object.keys(rows).sort())
})

for (const who of everybody) {
  test(`endpoints that ${who} can access`, async () => {
    const secret = secrets.get(who)
    assert.ok(secret !== undefined || who === 'nobody')
    const reached: string[] = []
    for (const route of routes) {
      const { status, text } = await ask(route, secret)
      const isOpen = rows[route.name]?.reach === everybody
      assert.ok(status < 500 || route.path === '/error', `${route.name} answered ${status} ${text}`)
      if (nobodys.includes(who as never) && !isOpen)
        assert.ok(status === 401 || status === 403, `${route.name} answered ${status}`)
      if (![401, 403, 404].includes(status)) reached.push(route.name)
    }
    const meant = Object.entries(rows).filter(([, { reach }]) => reach.includes(who))
    assert.deepEqual(reached.sort(), meant.map(([name]) => name).sort())
  })
}

test('each path of differences and staged schemas needs read permission on schemas, or an admin', async () => {
  const paths = [
    'diff',
    'validate',
    'status',
    'staged/status',
    'commit',
    'abandon',
    'staged/commit',
    'staged/abandon',
  ]
  for (const path of paths) {
    const isChange = /commit|abandon/.test(path)
    const method = path.includes('status') ? 'GET' : 'POST'
    const meant: readonly Who[] = isChange ? admins : schemaReaders
    for (const who of everybody) {
      const secret = secrets.get(who)
      const route = { method, path: `/schema/1/${path}`, ...(secret !== undefined && { secret }) }
      const { status } = await send(server, route)
      const isLetIn = ![401, 403].includes(status)
      assert.equal(isLetIn, meant.includes(who), `${path} answered ${who} with ${status}`)
      assert.ok(status < 500)
    }
  }
})

test('an admin can import, export and read logs only in its own database and those below', async () => {
  const other = await keyOfNewDatabase(server, 'other', 'admin')
  const run = (expression: unknown) => query(server, other, expression)
  await run({ create_collection: { object: { name: 'secrets' } } })
  await run({
    create: { ref: { collection: 'secrets' }, id: '7' },
    params: { object: { data: { object: { MARKER: 1 } } } },
  })
  const secret = secrets.get('admin') as string
  const post = async (path: string, body: unknown) => {
    const answer = await send(server, { secret, path: `/api/v1/${path}`, body: JSON.stringify(body) })
    assert.ok(
      !answer.text.includes('MARKER') && !answer.text.includes('"secrets"'),
      `${path}: ${answer.text}`,
    )
    return answer
  }
  assert.deepEqual((await post('transfer/snapshot', {})).status, 200)
  const at = Date.now() * 1000
  const pageOf = await send(server, {
    secret,
    path: '/api/v1/transfer/page',
    body: JSON.stringify({ ...page, at, collection: 'secrets' }),
  })
  assert.deepEqual([pageOf.status, pageOf.text.includes('MARKER')], [400, false])
  assert.equal((await post('transfer/missing', { documents: [['notthere', '7']] })).text, '[true]')
  for (const view of ['logs', 'logs/_summary', 'logs/_records', 'logs/_changes']) {
    for (const database of ['us-std/other', 'us-std', undefined]) {
      const { status } = await post(view, { ...span, ...(database && { database }), region_group: 'us-std' })
      assert.ok(status === 403 || status === 400, `${view} of ${database} answered ${status}`)
    }
  }
  const explained = await post('explain', { query: { collections: null }, as: { database: 'other' } })
  assert.ok(explained.status >= 400)
})
