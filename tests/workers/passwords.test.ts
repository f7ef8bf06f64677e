// Wrong passwords count once and at once, whichever worker receives them and whether or not the query writes: the
// supervisor checks the passwords of all workers.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { rootQuery } from '../support/http.ts'
import { assertOnlyGuesserWaits } from '../support/passwords.ts'
import { startProcess, withoutSlowLane } from '../support/server-process.ts'
import { serviceOfFile } from '../support/service-of-file.ts'
import { clientOfEach, WorkerClient } from './clients.ts'

const flags = ['--workers', '2', '--metrics-port', '0', ...withoutSlowLane]
const server = serviceOfFile(() => startProcess({ flags }))
let clients: WorkerClient[] = []

before(async () => {
  clients = await clientOfEach(server, 2)
  await rootQuery(server, { create_collection: { object: { name: 'users' } } })
  const params = { object: { credentials: { object: { password: 'right' } } } }
  for (const id of ['1', '2']) await rootQuery(server, { create: user(id), params })
})

after(() => {
  for (const client of clients) client.close()
})

const user = (id: string) => ({ ref: { collection: 'users' }, id })
const identify = (password: string, id = '1') => ({ identify: user(id), password })
const logIn = (password: string) => ({ login: user('1'), params: { object: { password } } })

/** Clients of both workers with the secret of a new key. */
async function guessers(): Promise<WorkerClient[]> {
  const key = { create_key: { object: { role: 'admin' } } }
  const { secret } = (await rootQuery(server, key)) as { secret: string }
  for (const client of clients) client.secret = secret
  return clients
}

test('guesses through Identify and Login of two workers have one limit', async () => {
  const [first, second] = (await guessers()) as [WorkerClient, WorkerClient]
  const owner = new WorkerClient(server)
  // After these checks, everything that the first check creates exists.
  await Promise.all([first, second, owner].map(client => client.send(identify('wrong', '2'))))
  // Five guesses are free. Each of the others waits longer than the one before.
  for (const guess of [identify, logIn, identify, logIn, identify, logIn, identify])
    assert.ok((await first.send(guess('wrong'))).status < 500)
  await assertOnlyGuesserWaits(
    async () => assert.equal((await second.send(identify('wrong'))).resource, false),
    async () => assert.equal((await owner.send(identify('right'))).resource, true),
  )
  owner.close()
})

/** The number of operations that workers have forwarded to the supervisor. */
async function forwarded(): Promise<number> {
  const url = /metrics are at (http:\S+)"/.exec(server.stderr())?.[1] as string
  const metrics = await (await fetch(url)).text()
  return Number(/^terrarium_supervisor_operations_total (\d+)$/m.exec(metrics)?.[1])
}

test('the supervisor checks the passwords of queries that only read', async () => {
  const [first, second] = (await guessers()) as [WorkerClient, WorkerClient]
  await Promise.all([first, second].map(client => client.send(identify('wrong', '2'))))
  const before = await forwarded()
  for (let count = 0; count < 4; count++) assert.equal((await first.send(identify('right'))).resource, true)
  for (let count = 0; count < 4; count++) assert.equal((await second.send(identify('wrong'))).resource, false)
  assert.ok((await forwarded()) >= before + 8)
})

test('a right password of a query that only reads, and one of a query that writes after the check', async () => {
  const [first, second] = (await guessers()) as [WorkerClient, WorkerClient]
  assert.equal(await first.query(identify('right')), true)
  await rootQuery(server, { create_collection: { object: { name: 'visits' } } })
  const visit = { create: { collection: 'visits' } }
  const body = {
    query: {
      lambda: 'password',
      expr: { if: { identify: user('1'), password: { var: 'password' } }, then: visit, else: false },
    },
  }
  await rootQuery(server, { create_function: { object: { name: 'visit', body } } })
  assert.equal(await second.query({ call: 'visit', arguments: 'wrong' }), false)
  await second.query({ call: 'visit', arguments: 'right' })
  assert.equal(await first.query({ count: { documents: { collection: 'visits' } } }), 1)
})
