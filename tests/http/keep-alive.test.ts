// Idle connections stay open longer than those of load balancers and connection pools, for the configured time, which
// the header `Keep-Alive` reports. If there are too many, the connections that have been idle longest are closed first.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../support/server.ts'
import { startFakeService } from './fake-engine.ts'
import { connectRaw, type RawConnection } from './raw-connection.ts'

const ping = 'GET /ping?scope=node HTTP/1.1\r\nhost: localhost\r\n\r\n'

for (const [flags, seconds] of [
  [[], 75],
  [['--keep-alive-seconds', '3600'], 3600],
] as const) {
  test(`the header Keep-Alive reports an idle time of ${seconds} seconds`, async () => {
    await using server = await startServer({ flags })
    const connection = await connectRaw(Number(new URL(server.url).port), ping)
    assert.match(
      await connection.until('Scope node is OK'),
      new RegExp(`\r\nKeep-Alive: timeout=${seconds}\r\n`, 'i'),
    )
    connection.socket.destroy()
  })
}

test('when there are too many connections, those with the longest idle time are closed, not the oldest', async () => {
  await using service = await startFakeService({ waitingConnectionsMax: 8 })
  const connections: RawConnection[] = []
  const ask = async (connection: RawConnection) => {
    const before = connection.received().length
    connection.socket.write(ping)
    while (!connection.received().slice(before).includes('Scope node is OK')) {
      assert.ok(!connection.socket.destroyed, 'a connection with a recent request is not closed')
      await new Promise(setImmediate)
    }
  }
  for (let count = 0; count < 8; count++) connections.push(await connectRaw(service.port))
  for (const connection of connections) await ask(connection)
  const [first, second] = connections as [RawConnection, RawConnection]
  await ask(first)
  connections.push(await connectRaw(service.port))
  await second.ended()
  await ask(first)
  for (const { socket } of connections) socket.destroy()
})
