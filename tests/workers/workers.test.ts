// Several processes behind a port are one database: a commit of one process is visible to all others at once.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startProcess, withoutSlowLane } from '../support/server-process.ts'
import { serviceOfFile } from '../support/service-of-file.ts'
import { clientOfEach, type WorkerClient } from './clients.ts'

const workers = 2
const flags = ['--workers', String(workers), ...withoutSlowLane]
const server = serviceOfFile(() => startProcess({ flags }))
let clients: WorkerClient[] = []
let first: WorkerClient
let second: WorkerClient

before(async () => {
  clients = await clientOfEach(server, workers)
  ;[first, second] = clients as [WorkerClient, WorkerClient]
  await first.query({ create_collection: { object: { name: 'things' } } })
})

after(() => {
  for (const client of clients) client.close()
})

interface Document {
  readonly ref: { readonly '@ref': { readonly id: string } }
  readonly ts: number
  readonly data: { readonly n: number }
}

const create = (n: number) => ({
  create: { collection: 'things' },
  params: { object: { data: { object: { n } } } },
})

test('no increment through any worker is lost', async () => {
  const { ref } = (await first.query(create(0))) as Document
  const n = { select: ['data', 'n'], from: { get: ref } }
  const increment = { update: ref, params: { object: { data: { object: { n: { add: [n, 1] } } } } } }
  const rounds = 100
  const commits: Document[] = []
  await Promise.all(
    clients.map(async client => {
      for (let round = 0; round < rounds; round++) commits.push((await client.query(increment)) as Document)
    }),
  )
  const counts = Array.from({ length: rounds * workers }, (_, at) => at + 1)
  const inOrder = commits.sort((a, b) => a.ts - b.ts)
  // This check detects lost increments; stale reads are detected below.
  assert.deepEqual(
    inOrder.map(({ data }) => data.n),
    counts,
  )
  assert.equal(((await second.query({ get: ref })) as Document).data.n, rounds * workers)
  const times = new Set(commits.map(({ ts }) => ts))
  assert.equal(times.size, rounds * workers, 'every commit has a time of its own')
})

test('a snapshot contains exactly the commits of all workers up to its time', async () => {
  await first.query({ create_collection: { object: { name: 'stamped' } } })
  const add = { create: { collection: 'stamped' } }
  const all = { paginate: { documents: { collection: 'stamped' } }, size: 100_000 }
  const idOf = (ref: unknown) => (ref as Document['ref'])['@ref'].id
  const commits = new Map<string, number>()
  const snapshots: { readonly time: number; readonly ids: readonly string[] }[] = []
  let isWriting = true
  const write = async (client: WorkerClient) => {
    for (let round = 0; round < 150; round++) {
      const { ref, ts } = (await client.query(add)) as Document
      commits.set(idOf(ref), ts)
    }
  }
  const read = async (client: WorkerClient) => {
    while (isWriting) {
      const { txnTime, resource } = await client.send(all)
      snapshots.push({ time: txnTime, ids: (resource as { data: unknown[] }).data.map(idOf) })
    }
  }
  const readers = (await clientOfEach(server, workers)).map(async client => {
    await read(client)
    client.close()
  })
  await Promise.all(clients.map(write))
  isWriting = false
  await Promise.all(readers)
  assert.ok(snapshots.length > 0)
  for (const { time, ids } of snapshots) {
    const expected = [...commits].filter(([, ts]) => ts <= time).map(([id]) => id)
    assert.deepEqual([...ids].sort(), expected.sort(), `the snapshot of ${time}`)
  }
})

test('a worker never commits before a time that another worker has returned', async () => {
  const add = { create: { collection: 'things' } }
  let newest = 0
  for (let round = 0; round < 100; round++) {
    const [writer, reader] = round % 2 === 0 ? [first, second] : [second, first]
    const seen = (await reader.send(1)).txnTime
    assert.ok(seen >= newest)
    const { txnTime } = await writer.send(add)
    assert.ok(txnTime > seen, 'a commit comes after every snapshot answered before it began')
    newest = txnTime
  }
})

test('reads through all workers never go back, and are later than the last time their client has seen', async () => {
  const readers = await clientOfEach(server, workers)
  const { ref } = (await first.query(create(0))) as Document
  const update = (client: WorkerClient, n: number) =>
    client.query({ update: ref, params: { object: { data: { object: { n } } } } })
  let isReading = true
  const writing = clients.map(async client => {
    for (let n = 0; isReading; n++) await update(client, n)
  })
  let [newest, seen] = [0, 0]
  for (let round = 0; round < 300; round++) {
    const reader = readers[round % 3 === 0 ? 0 : 1] as WorkerClient
    const free = await reader.send({ get: ref })
    assert.ok(free.txnTime >= newest, `round ${round} went back by ${newest - free.txnTime}`)
    const later = await reader.send({ get: ref }, { 'x-last-seen-txn': String(Math.max(seen, free.txnTime)) })
    assert.ok(later.txnTime > Math.max(seen, free.txnTime), `round ${round} does not go on`)
    newest = later.txnTime
    seen = later.txnTime
  }
  isReading = false
  await Promise.all(writing)
  for (const reader of readers) reader.close()
})

test('a client that sends the last seen time reads its own writes', async () => {
  for (let n = 0; n < 50; n++) {
    const { resource, txnTime } = await first.send(create(n))
    const { ref, ts } = resource as Document
    assert.equal(txnTime, ts)
    const read = await second.send({ get: ref }, { 'x-last-seen-txn': String(txnTime) })
    assert.equal((read.resource as Document).data.n, n)
    assert.ok(read.txnTime >= txnTime)
  }
})

test('a schema change in one worker is visible in the others', async () => {
  for (let n = 0; n < 20; n++) {
    const [maker, user] = n % 2 === 0 ? [first, second] : [second, first]
    const name = `made_${n}`
    assert.equal(await user.query({ exists: { collection: name } }), false)
    await maker.query({ create_collection: { object: { name } } })
    const { ref } = (await user.query({ create: { collection: name } })) as Document
    await maker.query({ delete: { collection: name } })
    assert.equal((await user.send({ get: ref })).status, 400, 'the collection is gone')
  }
})

test('a key that is revoked in one worker is rejected by the others', async () => {
  await first.query({ create_database: { object: { name: 'inner' } } })
  for (let n = 0; n < 10; n++) {
    const create = { create_key: { object: { database: { database: 'inner' }, role: 'server' } } }
    const key = (await first.query(create)) as { ref: unknown; secret: string }
    second.secret = key.secret
    assert.equal((await second.send(1)).status, 200)
    await first.query({ delete: key.ref })
    assert.equal((await second.send(1)).status, 401)
    second.secret = server.rootSecret
  }
})

test('ids differ between all processes', async () => {
  const ids = await Promise.all(
    Array.from({ length: 400 }, (_, n) => {
      const client = clients[n % workers] as WorkerClient
      // The process that commits evaluates `new_id`, because it counts as a write; the worker evaluates `newId()`.
      return n % (2 * workers) < workers ? client.query({ new_id: null }) : client.newId()
    }),
  )
  assert.equal(new Set(ids).size, ids.length)
  assert.equal(new Set(ids.map(id => BigInt(id as string) & 1023n)).size, workers + 1)
})

test('streams receive writes of other workers, each once and in order', async () => {
  await first.query({ create_collection: { object: { name: 'watched' } } })
  const { ref } = (await first.query({ create: { collection: 'watched' } })) as Document
  // A stream keeps its connection, so each one opens another connection, and they are distributed over the workers.
  const streams = await Promise.all(
    Array.from({ length: 2 * workers }, async () => {
      const response = await fetch(`${server.url}/stream`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.rootSecret}`, 'x-faunadb-api-version': '4' },
        body: JSON.stringify(ref),
      })
      return linesOf(response)
    }),
  )
  for (const lines of streams) assert.equal(((await lines.next()).value as StreamEvent).type, 'start')
  const times: number[] = []
  for (let n = 0; n < 10; n++) {
    const writer = clients[n % workers] as WorkerClient
    const params = { object: { data: { object: { n } } } }
    times.push(((await writer.query({ update: ref, params })) as Document).ts)
  }
  for (const lines of streams) {
    for (const [n, txn] of times.entries()) {
      const { value } = (await lines.next()) as { value: StreamEvent }
      assert.deepEqual([value.txn, value.event.document.data.n], [txn, n])
    }
    await lines.return(undefined)
  }
})

interface StreamEvent {
  readonly type: string
  readonly txn: number
  readonly event: { readonly document: Document }
}

/** The events of a stream as they arrive. */
async function* linesOf(response: Response): AsyncGenerator<StreamEvent> {
  let rest = ''
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + Buffer.from(chunk).toString()).split('\n')
    rest = lines.pop() as string
    for (const line of lines) yield JSON.parse(line)
  }
}
