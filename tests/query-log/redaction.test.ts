// The query log stores no value of an error (docs/query-logs.md). The tests plant a secret in one query for each kind
// of error of both languages. The log then contains each code, and the secret nowhere.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { queryErrorStatus } from '../../src/fql4/query-errors.ts'
import { query, send, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'
import { api, aroundNow } from './log-client.ts'

/** A word that no text of the service contains. */
const secret = 'hunter2'
const secretNumber = 40711
const planted = /hunter2|40711/

interface LoggedError {
  readonly code: string
  readonly description: string
  readonly position: string
}

const server = serverOfFile()
let admin: string
before(async () => {
  await query(server, server.rootSecret, { create_database: { object: { name: 'app' } } })
  await query(server, server.rootSecret, {
    create_database: { object: { name: 'box', container: true } },
  })
  admin = await keyOf('app', 'admin')
  await fql(
    'Collection.create({ name: "C", constraints: [{ unique: ["u"] }, { check: { name: "small", body: "d => d.n < 5" } }] })',
  )
  await fql('Collection.create({ name: "Typed", fields: { n: { signature: "Int" } } })')
  await fql('C.create({ id: 1, u: "hunter2", n: 1 })')
  await fql('Function.create({ name: "fails", body: "x => abort(x)" })')
  const body = { query: { lambda: 'x', expr: { add: [{ var: 'x' }, 'hunter2'] } } }
  await query(server, admin, { create_function: { object: { name: 'adds', body } } })
  const user = {
    object: { credentials: { object: { password: 'another one' } }, data: { object: { n: 1 } } },
  }
  await query(server, admin, { create: document(2), params: user })
})

async function keyOf(database: string, role: string): Promise<string> {
  const key = await query(server, server.rootSecret, {
    create_key: { object: { database: { database }, role } },
  })
  return (key as { readonly secret: string }).secret
}

async function fql(text: string, key = admin) {
  return sendFql(server, key, text)
}

const document = (id: number | string) => ({ ref: { collection: 'C' }, id: String(id) })
const fields = (data: object) => ({ object: { data: { object: data } } })

/** All errors in the log, of all requests so far. */
async function logged(): Promise<readonly LoggedError[]> {
  const found: LoggedError[] = []
  let next: unknown
  do {
    const order = {
      ...aroundNow(),
      region_group: 'us-std',
      max_results: 500,
      ...(next ? { next_token: next } : {}),
    }
    const { json, status } = await api(
      server,
      server.rootSecret,
      'POST',
      '/api/v1/logs/_records?type=query',
      order,
    )
    assert.equal(status, 200, JSON.stringify(json))
    for (const { error } of json.details as readonly { readonly error: LoggedError | null }[])
      if (error !== null) found.push(error)
    next = json.next_token
  } while (next)
  return found
}

/** Queries of version 4, each with the code that it ends in. */
const planted4: readonly (readonly [code: string, expression: unknown, database?: 'box'])[] = [
  ['authentication failed', { login: document(2), params: { object: { password: secret } } }],
  ['check constraint failure', { create: document(3), params: fields({ n: secretNumber }) }],
  ['call error', { call: { function: 'adds' }, arguments: secretNumber }],
  ['instance already exists', { create: document(2), params: fields({ n: secretNumber }) }],
  ['instance not found', { get: document(secretNumber) }],
  ['instance not unique', { create: document(4), params: fields({ u: secret, n: 1 }) }],
  ['invalid argument', { add: [secretNumber, secret] }],
  ['invalid expression', { hunter2: { hunter2: secretNumber } }],
  ['invalid object in container', { create_collection: { object: { name: secret } } }, 'box'],
  ['invalid ref', { get: { index: secret } }],
  ['invalid write time', { at: { time: '2020-01-01T00:00:00Z' }, expr: { delete: document(2) } }],
  ['missing identity', { do: [secret, { current_identity: null }] }],
  ['permission denied', { create_key: { object: { role: 'admin', data: { object: { n: secret } } } } }],
  ['schema validation failed', { create_function: { object: { name: secret, body: secret } } }],
  ['transaction aborted', { abort: secret }],
  ['validation failed', { create_collection: { object: { name: 'x', history_days: secret } } }],
  ['value not found', { select: [secret, secretNumber], from: { object: { a: secret } } }],
]

/** These kinds of errors need more than a short query. */
const unplanted4 = [
  'feature not available',
  'invalid token',
  'invalid url parameter',
  'move database error',
  'stack overflow',
]

test('the log contains the secret for no kind of error of version 4', async () => {
  const [box, client] = [await keyOf('box', 'admin'), await keyOf('app', 'client')]
  for (const [code, expression, database] of planted4) {
    const key = database === 'box' ? box : code === 'permission denied' ? client : admin
    const { status, text } = await send(server, { secret: key, query: expression })
    assert.ok(status >= 400 && text.includes(`"${code}"`), `${code}: ${text}`)
  }
  const errors = await logged()
  assert.doesNotMatch(JSON.stringify(errors), planted)
  const codes = new Set(errors.map(each => each.code))
  const missing = Object.keys(queryErrorStatus).filter(code => !codes.has(code))
  assert.deepEqual(missing, unplanted4)
  for (const { code, description } of errors)
    if (code !== 'transaction aborted') assert.notEqual(description, '', code)
})

/** The same of version 10. */
const planted10: readonly (readonly [
  code: string,
  text: string,
  args?: Readonly<Record<string, unknown>>,
])[] = [
  ['abort', 'fails("hunter2")'],
  ['constraint_failure', 'C.create({ u: "hunter2", n: 40711 })'],
  ['constraint_failure', 'Typed.create({ n: "hunter2", hunter2: 40711 })'],
  ['divide_by_zero', '40711 / 0'],
  ['document_id_exists', 'C.create({ id: 1, u: "hunter2" })'],
  ['document_not_found', 'C.byId("40711")!'],
  ['index_out_of_bounds', '"hunter2"[40711]'],
  ['invalid_argument', 'Object.fromEntries([["hunter2", 40711], "hunter2"])'],
  ['invalid_bounds', 'C.where(.u == "hunter2").take(-40711)'],
  ['invalid_cursor', 'Set.paginate("hunter2")'],
  ['invalid_date', 'Date("hunter2")'],
  ['invalid_effect', 'C.all().where(d => { let hunter2 = C.create({ n: 40711 }); true }).first()'],
  ['invalid_function_invocation', '"hunter2".includes("hunter2", 40711, "hunter2")'],
  ['invalid_null_access', '({ a: "hunter2" }).b.hunter2'],
  ['invalid_query', 'let hunter2 = 40711; hunter3("hunter2"'],
  ['invalid_id', 'ID("hunter2")'],
  ['invalid_receiver', 'C.where(.u == "hunter2").take(40711).eventSource()'],
  ['invalid_regex', '"hunter2".matches("(hunter2")'],
  ['invalid_schema', 'Collection.create({ name: "D", fields: { hunter2: { signature: "hunter2" } } })'],
  ['invalid_secret', 'Credential.byDocument(C.byId(2))!.login("hunter2")'],
  ['invalid_time', 'Time("hunter2")'],
  ['invalid_type', 'C.create({ hunter2: ID("40711") })'],
  ['invalid_unit', 'Time.now().add(40711, "hunter2")'],
  ['null_value', 'C.where(.u == "hunter2" && .n == 40711).first()!'],
  ['permission_denied', 'C.create({ u: "hunter2" })'],
  ['type_mismatch', 'if ("hunter2") 40711'],
  ['unbound_variable', 'hunter2 + 40711'],
  ['value_too_large', 'Set.sequence(0, 40711).order(x => "hunter2").first()'],
  ['invalid_write', 'at (Time("2020-01-01T00:00:00Z")) { C.create({ hunter2: 40711 }) }'],
]

test('the log contains the secret for no kind of error of version 10', async () => {
  const client = await keyOf('app', 'client')
  const missed: string[] = []
  for (const [code, text] of planted10) {
    const answer = await fql(text, code === 'permission_denied' ? client : admin)
    if (!answer.text.includes(`"code":"${code}"`)) missed.push(`${code}: ${answer.text.slice(0, 200)}`)
  }
  assert.deepEqual(missed, [])
  const errors = await logged()
  assert.doesNotMatch(JSON.stringify(errors), planted)
  const codes = new Set(errors.map(each => each.code))
  const missing10 = planted10.filter(([code]) => !codes.has(code)).map(([code]) => code)
  assert.deepEqual(missing10, [])
  for (const { code, description } of errors)
    if (code !== 'abort' && code !== 'transaction aborted') assert.notEqual(description, '', code)
})
