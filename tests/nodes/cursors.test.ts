// Cursors of version 10 that are created on one node and used on another.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fql } from '../support/http.ts'
import { describeNodes } from './cluster.ts'

interface Page {
  readonly data: readonly number[]
  readonly after?: string
}

describeNodes('cursors over nodes', nodes => {
  test('a page that began on one node continues on the other, and back', async () => {
    const { secret } = nodes.cluster
    await fql(nodes.a, secret, 'Collection.create({ name: "Item" })')
    await fql(nodes.a, secret, 'Set.sequence(0, 30).forEach(n => Item.create({ id: n + 1, n: n }))')
    const first = (await fql(nodes.a, secret, 'Item.all().map(d => d.n).paginate(10)')) as Page
    const all = [...first.data]
    let { after: cursor } = first
    for (const node of [nodes.b, nodes.a, nodes.b]) {
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
