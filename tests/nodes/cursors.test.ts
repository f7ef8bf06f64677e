// Cursors of version 10 that one node has made, on another.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fql } from '../support/http.ts'
import { noPostgres, PostgresServer } from '../support/postgres.ts'
import { Cluster, type Node } from './cluster.ts'

interface Page {
  readonly data: readonly number[]
  readonly after?: string
}

describe('cursors over nodes', { skip: noPostgres }, () => {
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

  test('a page that began on one node goes on on the other, and back', async () => {
    const { secret } = cluster
    await fql(a, secret, 'Collection.create({ name: "Item" })')
    await fql(a, secret, 'Set.sequence(0, 30).forEach(n => Item.create({ id: n + 1, n: n }))')
    const first = (await fql(a, secret, 'Item.all().map(d => d.n).paginate(10)')) as Page
    const all = [...first.data]
    let { after: cursor } = first
    for (const node of [b, a, b]) {
      if (cursor === undefined) break
      const page = (await fql(node, secret, 'Set.paginate(cursor)', { cursor })) as Page
      all.push(...page.data)
      cursor = page.after
    }
    assert.deepEqual(
      all,
      Array.from({ length: 30 }, (_, n) => n),
    )
  })
})
