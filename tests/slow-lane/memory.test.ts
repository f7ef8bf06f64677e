// Databases share slow-lane processes: data that the queries of one database leave in a process does not reduce the
// memory for queries of another database. The file takes more than 20 seconds, because its queries fill the memory of a
// process to the limit.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { keyOfNewDatabase, send, sendFql } from '../support/http.ts'
import { startProcess } from '../support/server-process.ts'
import { serviceOfFile } from '../support/service-of-file.ts'

const memoryMb = 64
const limits = ['--slow-lane-memory-mb', `${memoryMb}`, '--slow-lane-after-ms', '5']
const flags = ['--slow-lane-processes', '1', ...limits]

const server = serviceOfFile(() => startProcess({ flags }))
let greedy: string
let other: string

before(async () => {
  greedy = await keyOfNewDatabase(server, 'greedy', 'admin')
  other = await keyOfNewDatabase(server, 'other', 'admin')
})

const ask10 = (secret: string, text: string) => sendFql(server, secret, text)

/** Creates `count` arrays of 128 000 elements (a megabyte each), all of which stay in use. */
const arrays10 = (count: number) => `
  let short = Set.sequence(0, 16000).toArray()
  let long = Array.sequence(0, 3).fold(short, (x, _) => x.concat(x))
  Array.sequence(0, ${count}).map(n => long.concat([n])).length`

const variable = (name: string) => ({ var: name })
const doubled = { append: variable('x'), collection: variable('x') }

/** The same in version 4. */
const arrays4 = (count: number) => ({
  let: [
    {
      long: {
        reduce: { lambda: ['x', '_'], expr: doubled },
        initial: Array(1000).fill(1),
        collection: Array(7).fill(0),
      },
    },
  ],
  in: {
    count: {
      map: { lambda: 'n', expr: { append: [variable('n')], collection: variable('long') } },
      collection: Array.from({ length: count }, (_, n) => n),
    },
  },
})

/** A megabyte for each array: about half of the memory of a query. */
const much = 26

async function assertOtherHasMemory(when: string): Promise<void> {
  const ten = await ask10(other, arrays10(much))
  assert.equal(ten.status, 200, `${when}: ${ten.text}`)
  assert.match(ten.text, new RegExp(`"data":${much}\\b`))
  const four = await send(server, { secret: other, query: arrays4(much) })
  assert.deepEqual(four.json, { resource: much }, when)
}

test('cached documents of one database do not reduce the memory for queries of another', async () => {
  assert.equal((await ask10(greedy, 'Collection.create({ name: "Thing" })')).status, 200)
  const things = `Set.sequence(0, 40).forEach(n => Thing.create({
    texts: Set.sequence(0, 1000).toArray().map(x => "text " + x.toString())
  }))`
  for (let at = 0; at < 12; at++) assert.equal((await ask10(greedy, things)).status, 200)
  await assertOtherHasMemory('before')
  for (let round = 0; round < 3; round++) {
    const { status, text } = await ask10(greedy, 'Thing.all().toArray().map(.texts.length).length')
    assert.equal(status, 200, text)
    await assertOtherHasMemory(`after ${round + 1} reads`)
  }
})

test('cached query texts of one database do not reduce the memory for queries of another', async () => {
  const calls = 'f(),'.repeat(16_000)
  for (let at = 0; at < 24; at++) {
    const slow = `Set.sequence(0, 16000).toArray().map(x => x + ${at}).length`
    const { status, text } = await ask10(greedy, `if (${slow} < 0) [${calls} 1]`)
    assert.equal(status, 200, text)
  }
  await assertOtherHasMemory('after the texts')
})

test('a query that fails for lack of memory does not reduce the memory for queries of another database', async () => {
  const rejection = new RegExp(`Query takes too much memory. Max: ${memoryMb} MB.`)
  const ten = await ask10(greedy, arrays10(1000))
  assert.equal(ten.status, 400)
  assert.match(ten.text, rejection)
  await assertOtherHasMemory('after a query of version 10')
  const four = await send(server, { secret: greedy, query: arrays4(1000) })
  assert.equal(four.status, 400)
  assert.match(four.text, rejection)
  await assertOtherHasMemory('after a query of version 4')
})
