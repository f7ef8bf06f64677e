// Recognizes texts in the wrong version of the language.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isVersion4, looksLikeVersion10 } from '../../../../src/fql4/text/index.ts'

const texts10 = [
  'Orders.all().take(1)',
  'Orders\n  .all()',
  'Orders.where(.price > 3)',
  'Orders.byId("1")!',
  'Orders.byCustomer("x") { id }',
  'let a = 1\na',
  '[1, 2].map(x => x + 1)',
  'if (true) 1 else 2',
  '"#{1}".length',
]

const texts4 = [
  'Get(Ref(Collection("orders"), "1"))',
  'q.Map([1, 2], q.Lambda("x", q.Add(q.Var("x"), 1)))',
  'Create(Collection("a"), { data: { url: "http://x.example/all()" } })',
  'Map([1], x => Add(x, 1))',
  'Add(-1, -2) /* a.b(1 + 2) */',
]

test('each version is recognized by texts that are invalid in the other one', () => {
  for (const text of texts10)
    assert.deepEqual([looksLikeVersion10(text), isVersion4(text)], [true, false], text)
  for (const text of texts4)
    assert.deepEqual([looksLikeVersion10(text), isVersion4(text)], [false, true], text)
})

test('a text with a mistake is not taken for the other version', () => {
  for (const text of texts4) assert.equal(looksLikeVersion10(text.replace(')', '')), false, text)
  for (const text of ['', '1 +', 'Ordres', '"', '{ a: 1 ', 'orders.where(.price >)']) {
    assert.equal(isVersion4(text), false, text)
  }
})
