// A GraphQL schema on several nodes: an import on one node takes effect on the other node with the next request, and
// operations read the writes of the other node.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importSchema, runOperation, sendOperation } from '../support/graphql.ts'
import { assertApp, createApp } from '../support/graphql-app.ts'
import { keyOfNewDatabase } from '../support/http.ts'
import { describeNodes } from './cluster.ts'

describeNodes('GraphQL', nodes => {
  test('both nodes serve the schema, and changes of the schema by either node', async () => {
    const { a, b } = nodes
    const secret = await keyOfNewDatabase(a, 'library', 'admin')
    await createApp(a, secret)
    await assertApp(a, secret)
    await assertApp(b, secret)
    await importSchema(b, secret, 'type Shop { name: String! } type Query { allShops: [Shop!] }')
    const created = await sendOperation(b, secret, 'mutation { createShop(data: {name: "s"}) { name } }')
    assert.deepEqual(created.json, { data: { createShop: { name: 's' } } })
    const read = await sendOperation(a, secret, '{ allShops { data { name } } }')
    assert.deepEqual(read.json, { data: { allShops: { data: [{ name: 's' }] } } })
    await importSchema(a, secret, 'type Shop { name: String! }', 'replace')
    const { errors = [] } = await runOperation(b, secret, '{ allShops { data { name } } }')
    assert.match(errors[0]?.message ?? '', /^Cannot query field 'allShops'/)
  })
})
