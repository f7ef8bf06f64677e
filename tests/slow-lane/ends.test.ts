// Slow-lane processes that exit: the client of the running query gets an error, and other clients notice nothing.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http.ts'
import { startProcess } from '../support/server-process.ts'
import { serviceOfFile } from '../support/service-of-file.ts'

const flags = ['--slow-lane-memory-mb', '96', '--slow-lane-after-ms', '5']
const server = serviceOfFile(() => startProcess({ flags }))

const ask = (query: unknown, headers: Record<string, string> = {}) =>
  send(server, { secret: server.rootSecret, query, headers })

const variable = (name: string) => ({ var: name })

/** An array of 8 times 2 to the power of `doublings` elements. */
const longArray = (doublings: number) => ({
  reduce: { lambda: ['x', '_'], expr: { append: variable('x'), collection: variable('x') } },
  initial: [1, 2, 3, 4, 5, 6, 7, 8],
  collection: Array(doublings).fill(0),
})

/** Comparisons that run until the deadline or the compute limit, whichever comes first. */
const endless = {
  let: [{ a: longArray(15) }, { b: longArray(15) }],
  in: {
    map: { lambda: '_', expr: { lt: [variable('a'), variable('b')] } },
    collection: Array(5000).fill(0),
  },
}

async function assertServes(): Promise<void> {
  const { json } = await ask({ add: [1, 2] })
  assert.deepEqual(json, { resource: 3 })
  const slow = await ask({ count: longArray(14) })
  assert.deepEqual(slow.json, { resource: 131_072 })
}

test('a query that takes too much memory fails alone', async () => {
  const hungry = {
    let: [{ a: longArray(16) }],
    in: {
      map: { lambda: '_', expr: { append: 1, collection: variable('a') } },
      collection: Array(120).fill(0),
    },
  }
  const [failed, fine] = await Promise.all([ask(hungry), ask({ add: [1, 1] })])
  assert.equal(failed.status, 400)
  const { errors } = failed.json as { errors: { code: string; description: string }[] }
  assert.equal(errors[0]?.description, 'Query takes too much memory. Max: 96 MB.')
  assert.deepEqual(fine.json, { resource: 2 })
  await assertServes()
})

test('a query that takes too long fails in time', async () => {
  const { json, status } = await ask(endless, { 'x-query-timeout': '1500' })
  assert.equal(status, 503, JSON.stringify(json))
  assert.equal((json as { errors: { code: string }[] }).errors[0]?.code, 'time out')
  await assertServes()
})

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').map(Number).filter(Boolean)
}

test('processes get their settings from the service, not from their environment', async t => {
  if (process.platform !== 'linux') return t.skip('only Linux shows the environment of a process')
  await assertServes()
  const children = await childrenOf(server.pid)
  assert.ok(children.length > 0)
  for (const child of children) {
    assert.doesNotMatch(await readFile(`/proc/${child}/environ`, 'utf8'), /TERRARIUM_/)
  }
})

test('a service without slow queries has a process ready for the first one', async t => {
  if (process.platform !== 'linux') return t.skip('only Linux tells the processes of a process')
  await using fresh = await startProcess()
  await eventually('it has a process', async () => (await childrenOf(fresh.pid)).length > 0)
})

/** The number of queries that the processes evaluate at the moment. */
async function runningQueries(): Promise<number | undefined> {
  const request = { method: 'GET', path: '/api/v1/health', secret: server.rootSecret }
  const { processes } = (await send(server, request)).json as {
    processes: { slow_lane: { running: number } | null }[]
  }
  return processes[0]?.slow_lane?.running
}

test('a killed process fails only its own query', async t => {
  if (process.platform !== 'linux') return t.skip('only Linux tells the processes of a process')
  await assertServes()
  const answer = ask(endless, { 'x-query-timeout': '60000' })
  await eventually('a process evaluates the query', async () => (await runningQueries()) === 1)
  const children = await childrenOf(server.pid)
  assert.ok(children.length > 0)
  for (const child of children) process.kill(child, 'SIGKILL')
  const { json, status } = await answer
  assert.equal(status, 503, JSON.stringify(json))
  const [error] = (json as { errors: { code: string; description: string }[] }).errors
  assert.deepEqual(error, {
    code: 'service unavailable',
    description: 'The process that evaluated the query was killed; nothing was written.',
  })
  assert.match(server.stderr(), /"reason":"SIGKILL"/)
  await assertServes()
})
