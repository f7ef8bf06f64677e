// File descriptors run out: new connections are rejected, and the work of the service for existing clients does not
// fail.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { rootQuery } from '../support/http.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'

/** A query that takes longer than the service's own process allows. */
const slowQuery = {
  count: {
    reduce: { lambda: ['x', '_'], expr: { append: { var: 'x' }, collection: { var: 'x' } } },
    initial: [1, 2, 3, 4, 5, 6, 7, 8],
    collection: Array(14).fill(0),
  },
}

async function idleConnections(server: ServerProcess, count: number): Promise<Socket[]> {
  const port = Number(new URL(server.url).port)
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'))
  for (const socket of sockets) socket.on('error', () => undefined)
  await Promise.all(sockets.map(socket => once(socket, 'connect')))
  return sockets
}

/** Retries if the connection is rejected, as clients do. All other failures count. */
async function ask(server: ServerProcess, query: unknown): Promise<unknown> {
  let resource: unknown
  await eventually('the service accepts a connection', async () => {
    try {
      resource = await rootQuery(server, query)
      return true
    } catch (error) {
      if (!(error instanceof TypeError && error.message === 'fetch failed')) throw error
      return false
    }
  })
  return resource
}

for (const workers of ['1', '2']) {
  test(`more connections than there are descriptors for, ${workers} of the processes`, async () => {
    await using server = await startProcess({ descriptorsMax: 160, flags: ['--workers', workers] })
    const sockets = await idleConnections(server, 500)
    // These requests start a process, a segment of the log, and a thread for passwords.
    assert.equal(await ask(server, slowQuery), 131_072)
    await ask(server, { create_collection: { object: { name: 'users' } } })
    const credentials = { object: { credentials: { object: { password: 'x' } } } }
    await ask(server, { create: { collection: 'users' }, params: credentials })
    for (const socket of sockets) socket.destroy()
    assert.equal(await ask(server, { add: [1, 2] }), 3)
    assert.doesNotMatch(server.stderr(), /EMFILE|"level":[56]0/)
  })

  test(`a service is not started with too few, ${workers} of the processes`, async () => {
    const sentence =
      /before it was ready; its standard error:\nterrarium: this process may have 26 files and connections open at a time, and it needs 128 or more \(ulimit -n\)\n$/
    await assert.rejects(startProcess({ descriptorsMax: 26, flags: ['--workers', workers] }), sentence)
  })
}
