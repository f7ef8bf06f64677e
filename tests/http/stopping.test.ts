// A stopping service: running requests are answered, idle connections are closed.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import { test } from 'node:test'
import type { QueryResponse } from '../../src/engine/engine-contract.ts'
import { resource, startFakeService } from './fake-engine.ts'
import { connectRaw } from './raw-connection.ts'
import { authorization, post, request, serviceTest } from './service-test.ts'

test('when the service stops, requests on their way over open connections are answered', async () => {
  const service = await startFakeService({ lingerMs: 10_000 })
  const get = 'GET /ping HTTP/1.1\r\n\r\n'
  const kept = await Promise.all([1, 2, 3, 4].map(() => connectRaw(service.port, get)))
  for (const connection of kept) await connection.until('is OK')
  const session = http2.connect(service.url)
  await request(session, { ':path': '/ping' })
  const stopped = service.stop(20_000)
  for (const { socket } of kept) socket.write(get)
  for (const connection of kept) {
    const [, last] = (await connection.ended()).split('is OK"}')
    assert.match(last as string, /^HTTP\/1\.1 200 OK/)
    assert.match(last as string, /connection: close/i)
  }
  assert.equal((await request(session, { ':path': '/ping' })).status, 200)
  session.destroy()
  await stopped
})

test('stopping finishes running requests, closes idle connections and accepts no more', async () => {
  const service = await startFakeService()
  const releases: ((answer: QueryResponse) => void)[] = []
  service.engine.answer = () => new Promise(resolve => releases.push(resolve))
  const idle = await connectRaw(service.port, 'GET /ping HTTP/1.1\r\n\r\n')
  await idle.until('OK"}')
  const silent = await connectRaw(service.port)
  const idleSession = http2.connect(service.url)
  await request(idleSession, { ':path': '/ping' })
  const idleClosed = once(idleSession, 'close')
  const text = `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\ncontent-length: 1\r\n\r\n1`
  const busy = await connectRaw(service.port, text)
  const busySession = http2.connect(service.url)
  const streamed = request(busySession, post, '2')
  while (releases.length < 2) await new Promise(setImmediate)
  let stopped = false
  const stop = service.stop().then(() => {
    stopped = true
  })
  await Promise.all([idle.ended(), silent.ended(), idleClosed])
  await assert.rejects(fetch(`${service.url}/ping`))
  assert.equal(stopped, false)
  for (const release of releases) release(resource('"late"'))
  const answer = await busy.ended()
  assert.match(answer, /\{"resource":"late"\}$/)
  assert.match(answer, /connection: close/i)
  assert.equal((await streamed).text, '{"resource":"late"}')
  await stop
})

test('stopping closes connections that do not finish in time', async () => {
  const service = await startFakeService()
  service.engine.answer = () => new Promise(() => {})
  const text = `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\ncontent-length: 1\r\n\r\n1`
  const busy = await connectRaw(service.port, text)
  const session = http2.connect(service.url)
  const stream = session.request(post)
  stream.on('error', () => {})
  stream.end('2')
  while (service.engine.seen.length < 2) await new Promise(setImmediate)
  await Promise.all([service.stop(1), busy.ended(), once(session, 'close')])
})

serviceTest(
  'of connections that another process accepted, stopping closes the idle ones and waits for the others',
  async service => {
    let finish = () => {}
    service.engine.answer = () =>
      new Promise(resolve => {
        finish = () => resolve(resource('1'))
      })
    const idle = await connectRaw(service.port, 'GET /ping HTTP/1.1\r\n\r\n')
    await idle.until('is OK')
    const busy = await connectRaw(
      service.port,
      `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\ncontent-length: 1\r\n\r\n1`,
    )
    while (service.engine.seen.length === 0) await new Promise(setImmediate)
    const stopped = service.stop()
    await idle.ended()
    finish()
    assert.match(await busy.ended(), /^HTTP\/1\.1 200 /)
    await stopped
  },
  { handed: true },
)
