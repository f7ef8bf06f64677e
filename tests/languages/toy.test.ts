// The seam between languages: a second one takes an entry in each of two tables, and everything else works for it, too:
// HTTP, transactions, rights, limits, the slow lane, explanations, the query log, functions of the other language.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { limits } from '../../src/limits.ts'
import { type HttpAnswer, rootQuery, send } from '../support/http.ts'
import { sourceProgram } from '../support/program.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { slowQueries } from '../support/slow-queries.ts'

let server: ServerProcess

before(async () => {
  const env = { NODE_OPTIONS: `--import=${new URL('toy.ts', import.meta.url)}` }
  server = await startProcess({
    program: sourceProgram,
    env,
    flags: ['--slow-lane-after-ms', '0', '--metrics-port', '0'],
  })
  await rootQuery(server, { create_collection: { object: { name: 'things' } } })
  const body = { query: { lambda: 'n', expr: { multiply: [2, { var: 'n' }] } } }
  await rootQuery(server, { create_function: { object: { name: 'twice', body } } })
})

after(() => server.stop())

function toy(body: string, secret = server.rootSecret, headers = {}): Promise<HttpAnswer> {
  return send(server, { path: '/toy', secret, body, headers })
}

test('its answers have its status and form, and none of the headers of version 4', async () => {
  const { headers, status, text } = await toy('1 + 2 + 3')
  assert.equal(status, 200)
  assert.match(text, /^6 at \d{16}, cost 1, in toy$/)
  assert.equal(headers.get('x-txn-time'), null)
  assert.equal(headers.get('x-compute-ops'), null)
})

test('its failures look as it says: of the query, of credentials, of headers, of parsing, of the path', async () => {
  const failures = [
    [await toy('1 + x'), 422, 'no: x is no number (2)'],
    [await toy('what?'), 422, 'no: nobody asks here (4)'],
    [await toy('1', 'wrong'), 401, 'no: unauthorized'],
    [await toy('1', server.rootSecret, { 'x-toy': 'bad' }), 400, 'no: bad toy'],
    [
      await send(server, { path: '/toy', method: 'PUT', secret: server.rootSecret }),
      405,
      'no: Allowed methods are POST.',
    ],
  ] as const
  for (const [answer, status, text] of failures) {
    assert.equal(answer.status, status)
    assert.equal(answer.text, text)
  }
  assert.equal(failures[2][0].headers.get('www-authenticate'), 'Bearer')
})

test('what it creates is there for version 4, at the time that it tells', async () => {
  const { text } = await toy('create things 7')
  const [, id, time] = /^(\d+) at (\d+), /.exec(text) ?? []
  const document = await rootQuery(server, { get: { ref: { collection: 'things' }, id } })
  assert.deepEqual((document as { data: unknown }).data, { n: 7 })
  assert.equal(String((document as { ts: number }).ts), time)
})

test('it is refused what the rules of the data refuse', async () => {
  const key = (await rootQuery(server, { create_key: { object: { role: 'client' } } })) as { secret: string }
  assert.equal((await toy('create things 7', key.secret)).text, 'no: permission denied (1)')
})

test('it calls functions of version 4, whose errors it tells by their sentence', async () => {
  assert.match((await toy('call twice 21')).text, /^42 at /)
  const body = { query: { lambda: 'n', expr: { abort: 'enough' } } }
  await rootQuery(server, { create_function: { object: { name: 'gives_up', body } } })
  assert.equal((await toy('call gives_up 1')).text, 'no: enough (false)')
})

test('limits hold', async () => {
  const units = limits.computeOpsMax * limits.computeUnitsPerOp
  assert.deepEqual(await textOf(toy(`each ${units + 1}`)), [400, 'no: bad request'])
})

test('in the slow lane it answers the same, and what it writes there is committed once', async () => {
  const before = await slowQueries(server)
  assert.match((await toy('each 100000')).text, /^100000 at \d{16}, cost 2000, in toy$/)
  const [, id, time] =
    /^(\d+) at (\d+), /.exec((await toy(`create things 8${' '.repeat(limits.shortBodyBytes)}`)).text) ?? []
  assert.equal(await slowQueries(server), before + 2)
  const document = await rootQuery(server, { get: { ref: { collection: 'things' }, id } })
  assert.equal(String((document as { ts: number }).ts), time)
})

test('the query log shows its shape, and no data', async () => {
  await toy('create things 123456')
  const folder = join(server.data, 'query-log/segments')
  const recorded = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
      .join('')
  while (!recorded().includes('"FQL_SHAPE":"create * #"')) await wait(20)
  assert.ok(!recorded().includes('123456'))
})

async function textOf(answer: Promise<HttpAnswer>): Promise<[number, string]> {
  const { status, text } = await answer
  return [status, text]
}
