// Which queries certainly write nothing. Only these queries are dropped when their client disconnects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { version4 } from '../../../src/fql4/language.ts'
import { version10 } from '../../../src/fql10/language.ts'

const onlyReads4 = (query: unknown) =>
  version4.parse({ dialect: '4', body: JSON.stringify(query) } as Parameters<typeof version4.parse>[0])
    .onlyReads

const onlyReads10 = (query: string) =>
  version10.parse({ dialect: '10', body: JSON.stringify({ query }) } as Parameters<typeof version10.parse>[0])
    .onlyReads

const things = { collection: 'things' }

test('version 4: a query that calls a user function may write', () => {
  assert.equal(onlyReads4({ paginate: { documents: things } }), true)
  assert.equal(onlyReads4({ map: { lambda: 'x', expr: { var: 'x' } }, collection: [1] }), true)
  assert.equal(onlyReads4({ if: true, then: { create: things, params: { object: {} } }, else: 1 }), false)
  assert.equal(onlyReads4([{ call: { function: 'add' }, arguments: 1 }]), false)
})

test('version 10: a query that calls a user function, or passes it on, may write', () => {
  for (const query of [
    'Item.all().where(.n > 1) { n }',
    'let x = Item.byId("1"); let f = (a, b) => a + b; [x, f(1, 2)]',
    'Item.all().map(item => { let price = item.price; price * 2 })',
    'Item.byName("a").first()!.name',
    'if (',
  ])
    assert.equal(onlyReads10(query), true, query)
  for (const query of [
    'add(1)',
    '[1].map(add)',
    'let f = add; f(1)',
    'Function("add")(1)',
    'Item.create({})',
  ])
    assert.equal(onlyReads10(query), false, query)
})
