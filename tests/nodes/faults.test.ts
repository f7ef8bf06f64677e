// Two nodes over one PostgreSQL with faults of processes and connections. Every acknowledged write exists exactly once
// on every node, and the nodes recover by themselves. The file takes more than 20 seconds, because it starts nodes
// again after each fault, and waits until connections without packets time out.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http.ts'
import { describeNodes, shortWriteWait, type TwoNodes } from './cluster.ts'

/** Tests a node whose database rejects its connections or does not respond. */
function testUnavailableDatabase(nodes: TwoNodes): void {
  test('the log contains the message of PostgreSQL, and again when it changes', async () => {
    await nodes.postgres.query('CREATE ROLE app LOGIN SUPERUSER')
    const store = `postgres://app@127.0.0.1:${nodes.postgres.port}/postgres`
    const node = await nodes.cluster.start({ env: { TERRARIUM_STORE: store, ...shortWriteWait } })
    const reject = (how: string) =>
      nodes.postgres.query(
        `ALTER ROLE app ${how}`,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'",
      )
    const lines = (text: string) =>
      node
        .stderr()
        .split('\n')
        .filter(line => line.includes(text)).length
    await reject('NOLOGIN')
    await eventually('the first reason is told', () => lines('is not permitted to log in') > 0)
    const rejection = /is not permitted to log in".*requests get 503/
    await eventually('so is why writes are rejected', async () => {
      assert.equal(await nodes.cluster.write(node), 'rejected')
      return rejection.test(node.stderr())
    })
    await reject('LOGIN NOSUPERUSER CONNECTION LIMIT 0')
    await eventually('the second reason is told', () => lines('too many connections for role') > 0)
    const report = /"reason":"(.*?)","msg":"the database of the store is unavailable"|is available again/g
    const reasons = Array.from(node.stderr().matchAll(report), ([, reason]) => reason ?? 'available again')
    for (const [at, reason] of reasons.entries())
      assert.notEqual(reason, reasons[at - 1], 'only another reason is logged')
    await nodes.postgres.query('ALTER ROLE app SUPERUSER CONNECTION LIMIT -1')
    await eventually('it is back', () => lines('is available again') > 0)
    await nodes.cluster.untilAcknowledged(node)
    await nodes.cluster.stop(node)
  })

  test('a network that drops all packets: reads continue, writes get 503, then everything recovers', async () => {
    const node = await nodes.cluster.start({ env: shortWriteWait })
    node.proxy.blackhole(true)
    const create = { create: { collection: 'counters' }, params: { object: {} } }
    const writes = Promise.all([
      send(node, { method: 'GET', path: '/ping?scope=write' }),
      send(node, { secret: nodes.cluster.secret, query: create }),
    ])
    const page = { paginate: { match: { index: 'all_operations' } } }
    assert.equal((await send(node, { secret: nodes.cluster.secret, query: page })).status, 200)
    const [ping, rejected] = await writes
    assert.equal(ping.status, 503)
    assert.equal(rejected.status, 503, rejected.text)
    assert.match(rejected.text, /available/)
    assert.equal(await nodes.cluster.write(nodes.b), 'acknowledged')
    node.proxy.blackhole(false)
    await nodes.cluster.untilAcknowledged(node)
    await nodes.cluster.verify(node, nodes.b)
    await nodes.cluster.stop(node)
  })
}

describeNodes(
  'nodes',
  nodes => {
    /**
     * Kills the first node when it is about to send, or has sent, a text that contains `statement`; then restarts it.
     */
    async function killedAt(statement: string, isSent: boolean): Promise<void> {
      let killed: Promise<void> | undefined
      await nodes.cluster.underLoad(nodes.a, nodes.b, async () => {
        const kill = (sent: Buffer) => {
          if (!sent.includes(statement)) return false
          killed ??= nodes.cluster.kill(nodes.a)
          return true
        }
        if (isSent) nodes.a.proxy.cutsAfter = kill
        else nodes.a.proxy.losesAndCuts = kill
        await eventually('the node is killed', () => killed !== undefined)
        await killed
      })
      nodes.a = await nodes.cluster.start({ data: nodes.a.data })
      await nodes.cluster.verify(nodes.a, nodes.b)
    }

    test('kill -9 before the node holds the head', () => killedAt('lock head', false))
    test('kill -9 while the node holds the head', () => killedAt('lock head', true))
    test('kill -9 before COMMIT arrives', () => killedAt('COMMIT', false))
    test('kill -9 after COMMIT', () => killedAt('COMMIT', true))

    test('PostgreSQL is killed during commits and restarted', async () => {
      await nodes.cluster.underLoad(nodes.a, nodes.b, async () => {
        await nodes.postgres.kill()
        await nodes.postgres.run()
      })
      await nodes.cluster.verify(nodes.a, nodes.b)
    })

    test('connections that are lost before, during and after COMMIT', async () => {
      let commits = 0
      await nodes.cluster.underLoad(nodes.a, nodes.b, async () => {
        nodes.a.proxy.cutsAfter = sent => sent.includes('COMMIT') && ++commits % 4 === 1
        nodes.a.proxy.losesAndCuts = sent => sent.includes('COMMIT') && commits % 4 === 3 && ++commits > 0
        await eventually('some were cut', () => commits >= 12)
        nodes.a.proxy.cutsAfter = () => false
        nodes.a.proxy.losesAndCuts = () => false
      })
      await nodes.cluster.verify(nodes.a, nodes.b)
    })

    test('a node is stopped while it holds the head: the other continues, and so does the node after it is resumed', async () => {
      await nodes.cluster.underLoad(nodes.a, nodes.b, async () => {
        let isStopped = false
        nodes.a.proxy.cutsAfter = sent => {
          if (!isStopped && sent.includes('lock head')) {
            isStopped = true
            process.kill(nodes.a.pid, 'SIGSTOP')
          }
          return false
        }
        await eventually('the node stands still', () => isStopped)
        assert.equal(await nodes.cluster.write(nodes.b), 'acknowledged')
        process.kill(nodes.a.pid, 'SIGCONT')
        nodes.a.proxy.cutsAfter = () => false
      })
      await nodes.cluster.verify(nodes.a, nodes.b)
    })

    testUnavailableDatabase(nodes)
  },
  { hasOwnPostgres: true },
)
