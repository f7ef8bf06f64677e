// The costs of idle nodes, and the effect of a long transaction in PostgreSQL. The file takes more than 20 seconds,
// because it watches idle nodes for ten seconds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { Client } from 'pg'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http.ts'
import { describeNodes, sendUntilServed } from './cluster.ts'

describeNodes(
  'rest',
  nodes => {
    const number = async (expression: string) =>
      Number((await nodes.postgres.query(`SELECT ${expression} AS number`))[0]?.number)
    const headSeq = () => number(`(SELECT max(seq) FROM "${nodes.cluster.schema}".log)`)

    test('an idle cluster appends nothing and sends few queries; the first request sees the write of the other node', async () => {
      await nodes.cluster.write(nodes.a)
      // After this wait, no client counts as reading.
      await setTimeout(2_500)
      let sent = 0
      for (const { proxy } of [nodes.a, nodes.b])
        proxy.cutsAfter = () => {
          sent++
          return false
        }
      // On a busy machine, the work that follows the write may take longer than the wait.
      await eventually('nothing is appended, and few statements are sent', async () => {
        sent = 0
        const [seq, beganMs] = [await headSeq(), performance.now()]
        await setTimeout(8_000)
        const seconds = (performance.now() - beganMs) / 1000
        // A node that serves reads sends more than 100 statements per second, an idle one about 5.
        return (await headSeq()) === seq && sent <= 2 * 25 * seconds
      })
      for (const { proxy } of [nodes.a, nodes.b]) proxy.cutsAfter = () => false

      const name = { create: { collection: 'counters' }, params: { object: {} } }
      const made = await send(nodes.a, { secret: nodes.cluster.secret, query: name })
      assert.equal(made.status, 201, made.text)
      const { ref, ts } = (made.json as { resource: { ref: unknown; ts: number } }).resource
      const seen = await sendUntilServed(nodes.b, { secret: nodes.cluster.secret, query: { get: ref } })
      assert.equal(seen.status, 200, seen.text)
      const { resource } = (await send(nodes.b, { secret: nodes.cluster.secret, query: { now: null } }))
        .json as {
        resource: { '@ts': string }
      }
      assert.ok(Date.parse(resource['@ts']) * 1000 > ts - 1_000)
    })

    test('each query of a client has a later time than the previous one, and time goes on', async () => {
      const isRead = { time: 'now' }
      let last = 0
      for (let count = 0; count < 300; count++) {
        // Like drivers, the client sends the last seen time; otherwise two reads may have the same time.
        const headers = { 'x-last-seen-txn': String(last) }
        const request = { secret: nodes.cluster.secret, query: isRead, headers }
        const { json } = await sendUntilServed(nodes.b, request)
        const now = (json as { resource: { '@ts': string } }).resource['@ts']
        // The text of a time without microseconds would sort after one with them.
        const micros = Date.parse(now) * 1000 + Number(/\.\d{3}(\d{3})Z$/.exec(now)?.[1] ?? 0)
        assert.ok(micros > last, `${now} after ${last}`)
        last = micros
        if (count % 10 === 0) await nodes.cluster.write(nodes.a)
      }
      const reached = await number('(extract(epoch from clock_timestamp()) * 1000)::bigint')
      await eventually('a query has a later time than the clock of the database had', async () => {
        const { json } = await sendUntilServed(nodes.b, { secret: nodes.cluster.secret, query: isRead })
        return Date.parse((json as { resource: { '@ts': string } }).resource['@ts']) >= reached
      })
    })

    test('no row versions accumulate while a transaction of PostgreSQL is open for long', async () => {
      const dump = new Client({ connectionString: nodes.postgres.url() })
      await dump.connect()
      try {
        await dump.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
        await dump.query(`SELECT count(*) FROM "${nodes.cluster.schema}".log`)
        const pagesRead = async () => {
          const explained = await nodes.postgres.query(
            `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT seq, closed FROM "${nodes.cluster.schema}".log ORDER BY seq DESC LIMIT 1`,
          )
          const [row] = explained as readonly { 'QUERY PLAN': [{ Plan: Record<string, number> }] }[]
          const plan = row?.['QUERY PLAN'][0].Plan ?? {}
          return Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks'])
        }
        await pagesRead()
        const begun = await pagesRead()
        for (let count = 0; count < 300; count++) await nodes.cluster.write(nodes.a)
        assert.ok((await pagesRead()) <= begun + 1)
        const rows = await nodes.postgres.query(
          `SELECT relname, n_dead_tup FROM pg_stat_user_tables WHERE schemaname = '${nodes.cluster.schema}'`,
        )
        const dead = new Map(rows.map(row => [String(row.relname), Number(row.n_dead_tup)]))
        // An append that fails because the other node appends at the same time leaves a version, too.
        for (const table of ['head', 'log']) assert.ok((dead.get(table) ?? 300) < 10, `${dead.get(table)}`)
      } finally {
        await dump.end()
      }
    })
  },
  { hasOwnPostgres: true },
)
