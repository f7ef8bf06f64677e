// A query that reads the same document repeatedly reads it once, and again after each write.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestEngine } from '../support/engine.ts'

test('a query reads a document once, and again after each write in either language', async () => {
  await using engine = openTestEngine()
  const ask = async (text: string) => {
    const { body, metrics, status } = await engine.send({ query: text }, { language: '10' })
    assert.equal(status, 200, body)
    return { data: JSON.parse(body).data, bytes: metrics?.storageBytesRead }
  }
  await ask('Collection.create({ name: "C" })')
  await ask('C.create({ id: 1, a: 1, b: 2 })')
  const set = { update: { var: 'r' }, params: { object: { data: { object: { a: 40 } } } } }
  const body = { query: { lambda: 'r', expr: { do: [set, 0] } } }
  await engine.query({ create_function: { object: { name: 'set_in_4', body } } })

  const [once, often] = [
    await ask('C.create({ x: C(1)!.a }).x'),
    await ask('let d = C(1)!\nC.create({ x: d.a + d.b + d.a }).x'),
  ]
  assert.deepEqual([once.data, often.data], [1, 4])
  assert.equal(often.bytes, once.bytes)

  const changed = `let d = C(1)!
    let first = d.a
    d.update({ a: 20 })
    let second = d.a
    C(1)!.update({ a: 30 })
    let third = d.a
    set_in_4(d)
    let fourth = d.a
    let made = C.create({ a: 5 })
    let before = made.a
    made.delete()
    [first, second, third, fourth, before, made.exists(), C(1)!]`
  const { data } = await ask(changed)
  assert.deepEqual(data.slice(0, 6), [1, 20, 30, 40, 5, false])
  assert.equal(data[6].a, 40)
})
