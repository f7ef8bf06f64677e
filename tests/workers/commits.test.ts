// A single process commits the writes of all workers: no acknowledged write is lost, whatever else reads the folder and
// whichever process is killed.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { outputOf } from '../support/program.ts'
import { type ServerProcess, startProcess, withoutSlowLane } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'
import { clientOfEach, type WorkerClient } from './clients.ts'

const workers = 2
const clientsOfEach = 6
const folder = folderOfFile()

interface Document {
  readonly ref: { readonly '@ref': { readonly id: string } }
}

async function start(data: string): Promise<ServerProcess> {
  return startProcess({ data, flags: ['--workers', String(workers), ...withoutSlowLane] })
}

async function connect(server: ServerProcess): Promise<WorkerClient[]> {
  const clients: WorkerClient[] = []
  for (let count = 0; count < clientsOfEach; count++) clients.push(...(await clientOfEach(server, workers)))
  return clients
}

/** Creates documents until `isOver`, or until the connection breaks; collects the ids of the acknowledged ones. */
async function create(client: WorkerClient, acknowledged: Set<string>, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const answer = await client.send({ create: { collection: 'things' } }).catch(() => undefined)
    if (answer === undefined || answer.status === 503) return
    assert.equal(answer.status, 201)
    acknowledged.add((answer.resource as Document).ref['@ref'].id)
  }
}

async function idsIn(server: ServerProcess): Promise<Set<string>> {
  const [client] = (await clientOfEach(server, 1)) as [WorkerClient]
  const set = { paginate: { documents: { collection: 'things' } }, size: 100_000 }
  const { data } = (await client.query(set)) as { readonly data: Document['ref'][] }
  client.close()
  return new Set(data.map(ref => ref['@ref'].id))
}

const missingFrom = (ids: Set<string>, expected: Iterable<string>) => [...expected].filter(id => !ids.has(id))

test('a backup during writes of all workers has all documents that were acknowledged before it began', async () => {
  const data = join(folder, 'backed up')
  await using server = await start(data)
  const clients = await connect(server)
  await clients[0]?.query({ create_collection: { object: { name: 'things' } } })
  const acknowledged = new Set<string>()
  let isOver = false
  const writing = clients.map(client => create(client, acknowledged, () => isOver))
  for (let round = 0; round < 3; round++) {
    while (acknowledged.size < (round + 1) * 100) await clients[0]?.query(null)
    const before = [...acknowledged]
    const copy = join(folder, `copy ${round}`)
    await outputOf(['backup', copy, '--data', data])
    await assertSound(copy)
    await using restored = await startProcess({ data: copy, flags: withoutSlowLane })
    assert.deepEqual(missingFrom(await idsIn(restored), before), [])
  }
  isOver = true
  await Promise.all(writing)
  assert.deepEqual(missingFrom(await idsIn(server), acknowledged), [])
  for (const client of clients) client.close()
  await server.stop()
  await using again = await start(data)
  assert.deepEqual(missingFrom(await idsIn(again), acknowledged), [])
})

test('a kill of the committing process loses no acknowledged document', async () => {
  const data = join(folder, 'killed')
  const acknowledged = new Set<string>()
  for (let round = 0; round < 3; round++) {
    const server = await start(data)
    const clients = await connect(server)
    if (round === 0) await clients[0]?.query({ create_collection: { object: { name: 'things' } } })
    assert.deepEqual(missingFrom(await idsIn(server), acknowledged), [])
    const writing = clients.map(client => create(client, acknowledged, () => false))
    const target = acknowledged.size + 200
    while (acknowledged.size < target) await clients[0]?.query(null).catch(() => undefined)
    await server.kill()
    await Promise.all(writing)
    for (const client of clients) client.close()
  }
  await using again = await start(data)
  assert.deepEqual(missingFrom(await idsIn(again), acknowledged), [])
})
