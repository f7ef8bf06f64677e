// A crashing worker loses nothing but its connections.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { folderOfFile } from '../support/folder.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { serviceOfFile } from '../support/service-of-file.ts'
import { assertSound } from '../support/sound.ts'
import { clientOfEach, WorkerClient } from './clients.ts'

interface Document {
  readonly ref: { readonly '@ref': { readonly id: string } }
}

/** Interval between two checks of a condition, in milliseconds. */
const pollEveryMs = 20

/** Two workers; tests kill some of them. */
const flags = ['--workers', '2']
const server = serviceOfFile(() => startProcess({ flags }))
const data = folderOfFile()
before(async () => {
  await queryAfresh(server, { create_collection: { object: { name: 'things' } } })
})

/** The processes that a supervisor has started, with their command lines. */
async function childrenOf(pid: number): Promise<{ readonly pid: number; readonly command: string }[]> {
  const { stdout } = await promisify(execFile)('ps', ['--ppid', String(pid), '-ww', '-o', 'pid=,args='])
  const lines = stdout.split('\n').filter(line => line.trim() !== '')
  return lines.map(command => ({ pid: Number.parseInt(command, 10), command }))
}

/** The worker processes of a server, without the processes of its slow lane. */
async function workersOf(pid: number): Promise<number[]> {
  const children = await childrenOf(pid)
  return children.filter(({ command }) => !command.includes('slow-lane-main')).map(child => child.pid)
}

/** A worker that was killed before may still be listed, because its supervisor has not noticed its exit yet. */
function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Creates documents until the connection breaks or `isOver`; returns the ids of the acknowledged ones. */
async function writeOn(client: WorkerClient, isOver: () => boolean): Promise<string[]> {
  const acknowledged: string[] = []
  try {
    while (!isOver()) {
      const { resource, status } = await client.send({ create: { collection: 'things' } })
      // The committing process has exited: the write may have been committed.
      if (status === 503) break
      assert.equal(status, 201)
      acknowledged.push((resource as Document).ref['@ref'].id)
    }
  } catch (error) {
    assert.notEqual((error as Error).name, 'AssertionError', (error as Error).message)
  }
  return acknowledged
}

test('a killed worker is replaced, the others continue, and no acknowledged write is lost', async () => {
  const acknowledged: string[] = []
  for (let round = 0; round < 3; round++) {
    const clients = await clientOfEach(server, 2)
    let isOver = false
    const writers = clients.map(client => writeOn(client, () => isOver))
    const before = await workersOf(server.pid)
    process.kill(before[round % 2] as number, 'SIGKILL')
    const ended = await Promise.race(writers)
    assert.ok(Array.isArray(ended), 'the connections of the killed worker break')
    // The remaining worker serves, and in the end there are two again.
    await queryAfresh(server, { exists: { collection: 'things' } })
    isOver = true
    for (const ids of await Promise.all(writers)) acknowledged.push(...ids)
    for (const client of clients) client.close()
    while ((await workersOf(server.pid)).length < 2) {
      await queryAfresh(server, null)
      await setTimeout(pollEveryMs)
    }
    await bothServe(server)
  }
  const set = { paginate: { documents: { collection: 'things' } }, size: 100_000 }
  const { data } = (await queryAfresh(server, set)) as { data: Document['ref'][] }
  const stored = new Set(data.map(ref => ref['@ref'].id))
  assert.deepEqual(
    acknowledged.filter(id => !stored.has(id)),
    [],
  )
})

test('connections are answered, closed or wait for the next worker, whichever workers are killed', async () => {
  let isOver = false
  let answered = 0
  const askOn = async () => {
    while (!isOver) {
      await queryAfresh(server, null)
      answered++
    }
  }
  const asking = Array.from({ length: 16 }, askOn)
  for (let round = 0; round < 4; round++) {
    const target = answered + 100
    while (answered < target) await Promise.race([setTimeout(pollEveryMs), ...asking])
    for (const worker of await workersOf(server.pid)) killIfRunning(worker)
  }
  isOver = true
  await Promise.all(asking)
  await bothServe(server)
})

test('an index over many documents is built in the background, by one of the workers', async () => {
  const many = Array.from({ length: 300 }, (_, n) => n)
  const add = { create: { collection: 'many_things' } }
  await queryAfresh(server, { create_collection: { object: { name: 'many_things' } } })
  await queryAfresh(server, { foreach: { lambda: 'n', expr: add }, collection: many })
  const index = { name: 'all_things', source: { collection: 'many_things' } }
  await queryAfresh(server, { create_index: { object: index } })
  const active = { select: 'active', from: { get: { index: 'all_things' } } }
  while (!(await queryAfresh(server, active))) await setTimeout(pollEveryMs)
  const count = { count: { match: { index: 'all_things' } } }
  assert.equal(await queryAfresh(server, count), 300)
})

/** Calls `use` with a client on a new connection; retries if the connection went to the killed worker. */
async function afresh<T>(server: ServerProcess, use: (client: WorkerClient) => Promise<T>): Promise<T> {
  for (;;) {
    const client = new WorkerClient(server)
    try {
      return await use(client)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
    } finally {
      client.close()
    }
  }
}

/** Runs a query on a new connection, as {@link afresh} does. */
function queryAfresh(server: ServerProcess, query: unknown): Promise<unknown> {
  return afresh(server, client => client.query(query))
}

/** Waits until both workers accept connections. */
async function bothServe(server: ServerProcess): Promise<void> {
  const serving = new Set<number>()
  while (serving.size < 2) serving.add(await afresh(server, async client => (await client.connect()).worker))
}

test('workers exit with a killed supervisor, whatever they are writing, and the directory can be served again', async () => {
  let last: readonly number[] = []
  for (let round = 0; round < 3; round++) {
    // The workers of the last round are left to the next start, which must wait for them itself.
    for (const child of last) await ended(child)
    const killed = await startProcess({ data, flags })
    if (round === 0) await queryAfresh(killed, { create_collection: { object: { name: 'things' } } })
    const clients = await clientOfEach(killed, 2)
    const writers = clients.map(client => writeOn(client, () => false))
    last = (await childrenOf(killed.pid)).map(({ pid }) => pid)
    await queryAfresh(killed, { create: { collection: 'things' } })
    await killed.kill()
    await Promise.all(writers)
    for (const client of clients) client.close()
  }
  await using again = await startProcess({ data, flags })
  assert.equal(await queryAfresh(again, { exists: { collection: 'things' } }), true)
  await queryAfresh(again, { create: { collection: 'things' } })
  await again.stop()
  for (const child of last) await ended(child)
  await assertSound(data)
})

/** Resolves when a process is gone. Only the time limit of the test ends the wait. */
async function ended(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await setTimeout(pollEveryMs)
  }
}
