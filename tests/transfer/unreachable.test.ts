// Messages of imports and exports about an unreachable service, and their retries when it is away for a moment.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { cert, key } from '../http/certificate.ts'
import { folderOfFile } from '../support/folder.ts'
import { query } from '../support/http.ts'
import { freePort } from '../support/postgres.ts'
import { runProgram } from '../support/program.ts'
import { serverOfFile } from '../support/server.ts'
import { fixtures } from './importing.ts'

const server = serverOfFile()
const folder = folderOfFile()

/** The fate of a request: passed on, cut off, or answered with 503. */
type Fate = 'pass' | 'cut' | 'busy'

/** A load balancer before the service. Requests meet one fate after the other; the last one is for all that follow. */
async function balancer(
  fates: readonly Fate[],
): Promise<{ readonly url: string; readonly close: () => void }> {
  let count = 0
  const front = createServer((incoming, response) => {
    const fate = fates[Math.min(count++, fates.length - 1)]
    if (fate === 'cut') incoming.socket.destroy()
    else if (fate === 'busy') response.writeHead(503).end('away for a moment')
    else {
      const { headers, method = '', url = '' } = incoming
      const onwards = request(server.url + url, { method, headers }, answer => {
        response.writeHead(answer.statusCode ?? 0, answer.headers)
        answer.pipe(response)
      })
      incoming.pipe(onwards)
    }
  })
  return { url: `http://127.0.0.1:${await listen(front)}`, close: () => front.close() }
}

async function listen(listener: Server): Promise<number> {
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return (listener.address() as AddressInfo).port
}

function run(words: readonly string[]) {
  return runProgram(words, { TERRARIUM_SECRET: server.rootSecret })
}

function importInto(url: string, database: string) {
  const state = join(folder, 'state')
  const file = join(fixtures, 'dumps/array.json')
  return run(['import', '--url', url, '--database', database, '--state', state, file])
}

test('an import continues when the service is back', async () => {
  const { close, url } = await balancer(['cut', 'busy', 'pass', 'cut', 'pass', 'busy', 'cut', 'pass'])
  const { status, stderr } = await importInto(url, 'returned')
  close()
  assert.deepEqual([status, stderr], [0, ''])
  const secret = `${server.rootSecret}:returned:admin`
  assert.equal(await query(server, secret, { count: { documents: { collection: 'things' } } }), 2)
})

test('a service that stays unreachable is reported in one line', async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}`
  const killed = await balancer(['pass', 'pass', 'cut'])
  const busy = await balancer(['busy'])
  const wrong = server.url.replace('http:', 'https:')
  const cases = [
    [importInto(nowhere, 'a'), nowhere, 'cannot be reached: nothing is served there'],
    [
      run(['export', '--url', nowhere, join(folder, 'e')]),
      nowhere,
      'cannot be reached: nothing is served there',
    ],
    [importInto(killed.url, 'b'), killed.url, 'cannot be reached: the connection was closed'],
    [importInto(busy.url, 'c'), busy.url, 'rejects the query: status 503 away for a moment'],
    [importInto(wrong, 'd'), wrong, 'cannot be reached: it does not speak TLS (http:// instead of https://)'],
  ] as const
  for (const [outcome, url, said] of cases) {
    const { status, stderr } = await outcome
    assert.deepEqual([status, stderr], [1, `terrarium: ${url} ${said}\n`])
  }
  killed.close()
  busy.close()
})

test('an untrusted certificate is reported in one line, with advice', async () => {
  const front = createTlsServer({ cert, key }, (_, response) => response.end())
  const url = `https://127.0.0.1:${await listen(front)}`
  const { status, stderr } = await importInto(url, 'e')
  front.close()
  assert.equal(status, 1)
  assert.match(
    stderr,
    /^terrarium: \S+ cannot be reached: its certificate is not trusted; set NODE_EXTRA_CA_CERTS [^\n]*\n$/,
  )
})
