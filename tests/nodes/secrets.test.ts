// New secrets of one node on the other nodes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { query } from '../support/http.ts'
import { describeNodes, sendUntilServed } from './cluster.ts'

describeNodes('secrets over nodes', nodes => {
  /**
   * A client that sends some last seen time, though not that of the secret's creation, so that its node has no other
   * reason to read the head.
   */
  const ask = (secret: string, what: unknown) =>
    sendUntilServed(nodes.b, { secret, query: what, headers: { 'x-last-seen-txn': '1' } })

  test('a secret is valid on all nodes as soon as it was returned, for reads and writes', async () => {
    const user = { ref: { collection: 'counters' }, id: '5' }
    const params = { object: { credentials: { object: { password: 'right' } } } }
    await query(nodes.a, nodes.cluster.secret, { create: user, params })
    for (let count = 0; count < 20; count++) {
      const login = { login: user, params: { object: { password: 'right' } } }
      const { secret } = (await query(nodes.a, nodes.cluster.secret, login)) as { secret: string }
      assert.equal((await ask(secret, { current_identity: null })).status, 200)
      const key = { create_key: { object: { role: 'admin' } } }
      const made = (await query(nodes.a, nodes.cluster.secret, key)) as { secret: string }
      const create = { create: { collection: 'counters' }, params: { object: {} } }
      assert.equal((await ask(made.secret, create)).status, 201)
    }
  })
})
