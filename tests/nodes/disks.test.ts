// Faults of the disks under two nodes, and of the server itself: full disks, damaged or outdated replicas, the loss of
// the primary. The file takes more than 20 seconds, because it fills disks, and restarts nodes and PostgreSQL after
// each fault.

import assert from 'node:assert/strict'
import { closeSync, existsSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { cp, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemRandom } from '../../src/base/random.ts'
import { pageBytes } from '../../src/storage/lmdb/data-file.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http.ts'
import { noPostgres, PostgresServer, walSegmentBytes } from '../support/postgres.ts'
import { temporaryFolder } from '../support/program.ts'
import { Cluster, describeNodes, type Node, shortWriteWait, type TwoNodes } from './cluster.ts'

test('no write is lost when the primary is lost and its standby promoted', { skip: noPostgres }, async () => {
  await using primary = await PostgresServer.start()
  await using cluster = new Cluster(primary)
  const [a, b] = await Promise.all([cluster.start(), cluster.start()])
  await cluster.prepare(a)
  await using standby = await primary.standby()
  await cluster.underLoad(a, b, async () => {
    await primary.kill()
    await standby.promote()
    cluster.moveTo(standby)
  })
  await cluster.verify(a, b)
})

const createCounter = (data: object) => ({
  create: { collection: 'counters' },
  params: { object: { data: { object: data } } },
})

/** Tests full disks of PostgreSQL and of a node. */
function testFullDisks(nodes: TwoNodes): void {
  test('PostgreSQL has no room: writes get 503, and succeed when there is room again', async () => {
    const [row] = await nodes.postgres.query('SELECT max(pg_relation_size(oid)) AS bytes FROM pg_class')
    // Segments of PostgreSQL's own log have their full size from the beginning.
    const room = Math.max(walSegmentBytes, Number(row?.bytes)) + (1 << 20)
    nodes.postgres.limitFiles(room)
    // Backends inherit the limit of their server at their start.
    nodes.a.proxy.cut()
    const text = systemRandom.hex(250_000)
    const create = createCounter({ text })
    // If PostgreSQL takes long to reject a commit, its outcome is open.
    const reason =
      /(does not accept commits|the previous attempt failed): could not (write|extend) .*File too large/
    await eventually('a write is rejected for lack of room', async () => {
      const { status, text } = await send(nodes.a, { secret: nodes.cluster.secret, query: create })
      assert.ok(status === 201 || status === 503, text)
      return status === 503 && reason.test(nodes.a.stderr())
    })
    nodes.postgres.limitFiles(Number.POSITIVE_INFINITY)
    nodes.a.proxy.cut()
    await nodes.cluster.untilAcknowledged(nodes.a)
    await nodes.cluster.verify(nodes.a, nodes.b)
  })

  test('a node has no room: it rejects writes, and continues when there is room', async () => {
    const mark = join(await temporaryFolder(), 'full')
    const full = await nodes.cluster.start({
      preload: 'full-disk.ts',
      env: { FULL_DISK_MARK: mark, ...shortWriteWait },
    })
    const text = 'x'.repeat(500_000)
    const create = createCounter({ text })
    await writeFile(mark, '')
    for (let count = 0; count < 4; count++)
      await send(nodes.b, { secret: nodes.cluster.secret, query: create })
    assert.equal(await nodes.cluster.write(nodes.b), 'acknowledged')
    assert.equal(await nodes.cluster.write(full), 'rejected')
    const ping = (scope: string) => send(full, { method: 'GET', path: `/ping?scope=${scope}` })
    await eventually('/ping names the fault', async () => {
      const { status, text } = await ping('read')
      return status === 503 && text.includes('cannot update its replica of the store')
    })
    assert.equal((await ping('node')).status, 200)
    const report = /"reason":"([^"]*)","msg":"cannot update the replica of the store"/.exec(full.stderr())
    assert.ok(report, full.stderr())
    const wrong = `"reason":"${report[1]}","msg":"the database of the store is unavailable"`
    assert.ok(!full.stderr().includes(wrong), full.stderr())
    await rm(mark)
    await eventually('/ping succeeds', async () => (await ping('read')).status === 200)
    await nodes.cluster.untilAcknowledged(full)
    await nodes.cluster.verify(full, nodes.b)
    await nodes.cluster.stop(full)
  })
}

describeNodes(
  'disks',
  nodes => {
    testFullDisks(nodes)

    test('a replica that is deleted, truncated or outdated is rebuilt', async () => {
      const old = `${nodes.a.data}.old`
      await nodes.cluster.stop(nodes.a)
      await cp(join(nodes.a.data, 'replica'), old, { recursive: true })
      for (let count = 0; count < 5; count++) await nodes.cluster.write(nodes.b)
      const replica = join(nodes.a.data, 'replica')
      const damages = [
        () => rm(replica, { recursive: true }),
        () => truncate(join(replica, 'data.mdb'), 50_000),
        async () => {
          await rm(replica, { recursive: true })
          await cp(old, replica, { recursive: true })
        },
      ]
      for (const damage of damages) {
        await damage()
        nodes.a = await nodes.cluster.start({ data: nodes.a.data })
        assert.equal(await nodes.cluster.write(nodes.a), 'acknowledged')
        await nodes.cluster.check(nodes.a.data)
        await nodes.cluster.stop(nodes.a)
      }
      await rm(old, { recursive: true })
    })

    test('a replica with damaged pages is rebuilt after processes have crashed', async () => {
      const damages = (node: Node) => node.stderr().match(/data\.mdb is damaged: /g)?.length ?? 0
      // If both workers exit at once, the directory may contain no replica at all.
      const copied = /"reason":"(there is none|it does not name its store|[^"]* is damaged: [^"]*)"/g
      let node = await nodes.cluster.start()
      const { data } = node
      const mark = join(data, 'replica-in-use')
      assert.ok(existsSync(mark))
      await nodes.cluster.stop(node)
      assert.ok(!existsSync(mark))
      node = await nodes.cluster.start({ data })
      await nodes.cluster.kill(node)
      zeroLeaves(data)
      node = await nodes.cluster.start({ data, flags: ['--workers', '2'] })
      assert.equal(damages(node), 1, node.stderr())
      assert.equal(await nodes.cluster.write(node), 'acknowledged')
      zeroLeaves(data)
      await eventually('both workers have died and have a new copy', async () => {
        const told = await nodes.cluster.write(node)
        return told === 'acknowledged' && (node.stderr().match(copied)?.length ?? 0) >= 2
      })
      assert.match(node.stderr(), /"reason":"MDB_|is damaged: /)
      await nodes.cluster.check(data)
      await nodes.cluster.stop(node)
    })
  },
  { a: { env: shortWriteWait }, hasOwnPostgres: true },
)

/** Overwrites the leaves of a node's replica with zeros, except for those that are checked before it is opened. */
function zeroLeaves(data: string): void {
  const descriptor = openSync(join(data, 'replica', 'data.mdb'), 'r+')
  const page = Buffer.alloc(pageBytes)
  const roots = new Set<bigint>()
  for (let number = 0n; number * BigInt(pageBytes) < fstatSync(descriptor).size; number++) {
    readSync(descriptor, page, 0, pageBytes, Number(number) * pageBytes)
    if (number < 2n) for (const at of [88, 136]) roots.add(page.readBigUInt64LE(at))
    else if (page.readUInt16LE(18) === 2 && !roots.has(number))
      writeSync(descriptor, Buffer.alloc(pageBytes), 0, pageBytes, Number(number) * pageBytes)
  }
  closeSync(descriptor)
}
