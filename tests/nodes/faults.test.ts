// Two nodes over one PostgreSQL, and everything that can happen to processes, connections and disks: what was
// acknowledged is there exactly once, on every node, and all goes on by itself.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cp, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { systemRandom } from '../../src/base/random.ts'
import { send } from '../support/http.ts'
import { noPostgres, PostgresServer } from '../support/postgres.ts'
import { Cluster, eventually, type Node } from './cluster.ts'

/** Writes from both nodes, `acknowledged` on the second after `fault` began. */
async function underLoad(cluster: Cluster, a: Node, b: Node, fault: () => Promise<void>): Promise<void> {
  let isOver = false
  const loads = Promise.all([cluster.load(a, 3, () => isOver), cluster.load(b, 3, () => isOver)])
  const count = () => [...cluster.told.values()].filter(told => told === 'acknowledged').length
  try {
    await eventually('some writes are acknowledged', () => count() >= 10)
    await fault()
    const soFar = count()
    await eventually('writes are acknowledged again', () => count() >= soFar + 10)
  } finally {
    isOver = true
    await loads
  }
}

test('the primary is lost and its standby promoted: nothing is', { skip: noPostgres }, async () => {
  const primary = await PostgresServer.start()
  const cluster = new Cluster(primary)
  let standby: PostgresServer | undefined
  try {
    const [a, b] = await Promise.all([cluster.start(), cluster.start()])
    await cluster.prepare(a)
    const promoted = await primary.standby()
    standby = promoted
    await underLoad(cluster, a, b, async () => {
      await primary.kill()
      await promoted.promote()
      cluster.moveTo(promoted)
    })
    await cluster.verify(a, b)
  } finally {
    await cluster.end()
    await standby?.stop()
    await primary.stop()
  }
})

describe('nodes', { skip: noPostgres }, () => {
  let postgres: PostgresServer
  let cluster: Cluster
  let a: Node
  let b: Node

  before(async () => {
    postgres = await PostgresServer.start()
    cluster = new Cluster(postgres)
    ;[a, b] = await Promise.all([cluster.start(), cluster.start()])
    await cluster.prepare(a)
  })
  after(async () => {
    await cluster.end()
    await postgres.stop()
  })

  /** Kills the first node when it is about to send, or has sent, what contains `statement`; starts it again. */
  async function killedAt(statement: string, isSent: boolean): Promise<void> {
    let killed: Promise<void> | undefined
    await underLoad(cluster, a, b, async () => {
      const kill = (sent: Buffer) => {
        if (!sent.includes(statement)) return false
        killed ??= cluster.kill(a)
        return true
      }
      if (isSent) a.proxy.cutsBehind = kill
      else a.proxy.losesAndCuts = kill
      await eventually('the node is killed', () => killed !== undefined)
      await killed
    })
    a = await cluster.start({ data: a.data })
    await cluster.verify(a, b)
  }

  test('kill -9 before it has the head', () => killedAt('FOR UPDATE', false))
  test('kill -9 while it has the head', () => killedAt('FOR UPDATE', true))
  test('kill -9 before COMMIT arrives', () => killedAt('COMMIT', false))
  test('kill -9 behind COMMIT', () => killedAt('COMMIT', true))

  test('PostgreSQL is killed in the middle of commits and started again', async () => {
    await underLoad(cluster, a, b, async () => {
      await postgres.kill()
      await postgres.run()
    })
    await cluster.verify(a, b)
  })

  test('connections cut while COMMIT is on its way, before and behind it', async () => {
    let commits = 0
    await underLoad(cluster, a, b, async () => {
      a.proxy.cutsBehind = sent => sent.includes('COMMIT') && ++commits % 4 === 1
      a.proxy.losesAndCuts = sent => sent.includes('COMMIT') && commits % 4 === 3 && ++commits > 0
      await eventually('some were cut', () => commits >= 12)
      a.proxy.cutsBehind = () => false
      a.proxy.losesAndCuts = () => false
    })
    await cluster.verify(a, b)
  })

  test('a node that stands still with the head in its hand: the other goes on; woken, it does too', async () => {
    await underLoad(cluster, a, b, async () => {
      let isStopped = false
      a.proxy.cutsBehind = sent => {
        if (!isStopped && sent.includes('FOR UPDATE')) {
          isStopped = true
          process.kill(a.pid, 'SIGSTOP')
        }
        return false
      }
      await eventually('the node stands still', () => isStopped)
      assert.equal(await cluster.write(b), 'acknowledged')
      process.kill(a.pid, 'SIGCONT')
      a.proxy.cutsBehind = () => false
    })
    await cluster.verify(a, b)
  })

  test('a network that swallows everything: reads go on, writes get 503, then all goes on', async () => {
    a.proxy.blackhole(true)
    assert.equal((await send(a, { method: 'GET', path: '/ping?scope=write' })).status, 503)
    const page = { paginate: { match: { index: 'all_operations' } } }
    assert.equal((await send(a, { secret: cluster.secret, query: page })).status, 200)
    const create = { create: { collection: 'counters' }, params: { object: {} } }
    const refused = await send(a, { secret: cluster.secret, query: create })
    assert.equal(refused.status, 503, refused.text)
    assert.match(refused.text, /available/)
    assert.equal(await cluster.write(b), 'acknowledged')
    a.proxy.blackhole(false)
    await eventually('the node takes writes again', async () => (await cluster.write(a)) === 'acknowledged')
    await cluster.verify(a, b)
  })

  test('PostgreSQL has no room: writes get 503; with room again, all goes on', async () => {
    const [row] = await postgres.query(`SELECT pg_relation_size('${cluster.schema}.log') AS bytes`)
    const room = Math.max(17 << 20, Number(row?.bytes) + (1 << 20))
    postgres.limitFiles(room)
    // Backends have the limit of the server they were started by.
    a.proxy.cut()
    const text = systemRandom.hex(250_000)
    const create = {
      create: { collection: 'counters' },
      params: { object: { data: { object: { text } } } },
    }
    let status = 201
    for (let count = 0; status === 201 && count < 100; count++)
      status = (await send(a, { secret: cluster.secret, query: create })).status
    assert.equal(status, 503)
    postgres.limitFiles(Number.POSITIVE_INFINITY)
    a.proxy.cut()
    await eventually('the node takes writes again', async () => (await cluster.write(a)) === 'acknowledged')
    await cluster.verify(a, b)
  })

  test('a node has no room: it refuses writes and goes on when there is some', async () => {
    const full = await cluster.start({ preload: 'full-disk.ts' })
    const limit = (bytes: string) => execFileSync('prlimit', ['--pid', String(full.pid), `--fsize=${bytes}:`])
    const text = 'x'.repeat(500_000)
    const create = { create: { collection: 'counters' }, params: { object: { data: { object: { text } } } } }
    limit('100000')
    for (let count = 0; count < 4; count++) await send(b, { secret: cluster.secret, query: create })
    assert.equal(await cluster.write(b), 'acknowledged')
    assert.equal(await cluster.write(full), 'refused')
    limit('unlimited')
    await eventually('it takes writes again', async () => (await cluster.write(full)) === 'acknowledged')
    await cluster.verify(full, b)
    await cluster.stop(full)
  })

  test('a copy that was deleted, cut short or is old', async () => {
    const old = `${a.data}.old`
    await cluster.stop(a)
    await cp(join(a.data, 'replica'), old, { recursive: true })
    for (let count = 0; count < 5; count++) await cluster.write(b)
    const replica = join(a.data, 'replica')
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
      a = await cluster.start({ data: a.data })
      assert.equal(await cluster.write(a), 'acknowledged')
      await cluster.check(a.data)
      await cluster.stop(a)
    }
    await rm(old, { recursive: true })
  })
})
