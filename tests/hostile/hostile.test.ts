// A malicious client: each of its queries gets a documented answer, and the service, in a process of its own, keeps
// working. The file takes more than 20 seconds, because the queries use all time and memory that the limits allow.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, test } from 'node:test'
import { send } from '../support/http.ts'
import { startProcess } from '../support/server-process.ts'
import { serviceOfFile } from '../support/service-of-file.ts'
import { hostileQueries, preparation } from './queries.ts'

const server = serviceOfFile(startProcess)

before(async () => {
  for (const query of preparation) {
    const { status, text } = await send(server, { secret: server.rootSecret, query })
    assert.ok(status < 300, text)
  }
})

/** Memory limit of the process in MiB: twice what its largest queries need. */
const residentMax = 2048

async function residentMiB(): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024
}

/** The longest time limit of a query: on a slow machine, a query may exceed the default limit before its own limit. */
const patient = { 'x-query-timeout': '600000' }

async function outcome(body: string): Promise<string> {
  const request = { secret: server.rootSecret, body, headers: patient }
  const { json, status } = await send(server, request)
  if (status < 300) return 'ok'
  const { errors } = json as { errors: { code: string }[] }
  return `${status} ${errors[0]?.code}`
}

for (const [kind, queries] of Object.entries(hostileQueries)) {
  test(`hostile queries against the ${kind} of the service`, async () => {
    const wrong: string[] = []
    for (const [name, body, verdict] of queries) {
      const given = await outcome(body())
      const isExpected = verdict === given || verdict.split(' or ').includes(given)
      if (!isExpected) wrong.push(`${name}: ${given} and not ${verdict}`)
    }
    assert.deepEqual(wrong, [])
    const { text } = await send(server, { secret: server.rootSecret, query: { add: [1, 2] } })
    assert.equal(text.trim(), '{"resource":3}')
  })
}

test('the service had no internal error, and its memory is limited', async t => {
  assert.doesNotMatch(server.stderr(), /a request failed|internal/i)
  if (process.platform !== 'linux') return t.skip('only Linux tells of the memory of a process')
  assert.ok((await residentMiB()) < residentMax, `${await residentMiB()} MiB`)
})
