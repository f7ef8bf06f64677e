// An address with several hosts, of which some do not respond.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { PostgresSession } from '../../src/storage/postgres/postgres-session.ts'
import { noPostgres } from '../support/postgres.ts'
import { postgresOfFile } from '../support/record.ts'

/** Listens on a free port, and returns this port. */
async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function forward(client: Socket, port: number): void {
  const target = connect(port, '127.0.0.1')
  client.pipe(target).pipe(client)
  for (const socket of [client, target]) socket.on('error', () => {})
}

/** Opens and closes a session. Returns the port of the server that it leads to. */
async function reach(url: string): Promise<unknown> {
  return PostgresSession.use({ url, schema: 'tests' }, 'tests', async session => {
    const [row] = await session.query("SELECT current_setting('port')::int AS port")
    return row?.port
  })
}

describe('an address with several hosts', { skip: noPostgres }, () => {
  const primary = postgresOfFile()

  test('a server that does not respond is tried last by the next connections, whatever the connect_timeout', async () => {
    const { port } = primary
    const contacts: string[] = []
    const sockets: Socket[] = []
    const silent = createServer(socket => {
      contacts.push('silent')
      sockets.push(socket.on('error', () => {}))
    })
    const good = createServer(client => {
      contacts.push('good')
      forward(client, port)
    })
    const hosts = `127.0.0.1:${await listen(silent)},127.0.0.1:${await listen(good)}`
    const url = `postgres://tests@${hosts}/postgres?sslmode=disable&connect_timeout=600`
    assert.equal(await reach(url), port)
    assert.deepEqual(contacts, ['silent', 'good'])
    // The connection to the silent server is closed when the other server has accepted the connection.
    for (const socket of sockets) if (!socket.resume().closed) await once(socket, 'close')
    assert.equal(await reach(url), port)
    assert.equal(contacts[2], 'good')
    for (const socket of sockets) socket.destroy()
    silent.close()
    good.close()
  })

  test('a silent server is used when the other servers are standbys', async () => {
    const { port } = primary
    const waiting = Promise.withResolvers<void>()
    // Forwards a connection only after another server was tried.
    const slow = createServer(async client => {
      await waiting.promise
      forward(client, port)
    })
    const other = createServer(socket => {
      socket.destroy()
      waiting.resolve()
    })
    const [slowPort, otherPort] = [await listen(slow), await listen(other)]
    const url = `postgres://tests@127.0.0.1:${slowPort},127.0.0.1:${otherPort}/postgres?sslmode=disable`
    assert.equal(await reach(url), port)
    slow.close()
    other.close()
  })
})
