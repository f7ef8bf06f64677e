// The load clients of the benchmark: a connection that the server closes while it is idle is reopened, as HTTP
// requires. A connection that is closed during a request is an error.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { http1Client, type LoadClient } from '../../bench/load-clients.ts'

const request = 'POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n'
const response = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

async function serving(
  t: TestContext,
  answer: (socket: Socket, connection: number) => void,
): Promise<LoadClient> {
  let connections = 0
  const server = createServer(socket => {
    const connection = ++connections
    socket.on('data', () => answer(socket, connection))
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  return http1Client((server.address() as AddressInfo).port, [request])
}

const sent = (client: LoadClient) => new Promise(resolve => client.send(0, resolve))

test('a connection that was closed while it was idle is reopened', async t => {
  const closed: Promise<unknown>[] = []
  const client = await serving(t, (socket, connection) => {
    if (connection === 1) socket.end(response)
    else socket.write(response)
    closed.push(once(socket, 'close'))
  })
  assert.equal(await sent(client), undefined)
  await closed[0]
  assert.equal(await sent(client), undefined)
  assert.equal(await sent(client), undefined)
  client.close()
  await client.ended
})

test('a connection that is closed during a request ends the load', async t => {
  const client = await serving(t, socket => socket.destroy())
  client.send(0, () => assert.fail('there is no response'))
  await assert.rejects(client.ended, { message: 'a connection was closed during a request' })
})
