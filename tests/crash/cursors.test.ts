// Cursors of version 10 are valid in every process that serves the same data directory, and after a restart, because
// the key that authenticates them is stored in the directory. Other databases reject them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { fql, keyOfNewDatabase, sendFql } from '../support/http.ts'
import { startProcess } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

const data = folderOfFile()

interface Page {
  readonly data: readonly number[]
  readonly after?: string
}

const workers = ['--workers', '2'] as const
/** The number of requests on separate connections after which each of two workers has almost certainly served some. */
const requests = 16

test('cursors are valid in all workers and after a restart, and read as of the time of their first page', async () => {
  await using first = await startProcess({ data, flags: workers })
  const secret = await keyOfNewDatabase(first, 'paged', 'admin')
  const neighbour = await keyOfNewDatabase(first, 'neighbour', 'admin')
  const indexes = '{ byN: { values: [{ field: "n" }] } }'
  await fql(first, secret, `Collection.create({ name: "Item", indexes: ${indexes} })`)
  await fql(first, neighbour, 'Collection.create({ name: "Item" })')
  await fql(first, secret, 'Set.sequence(0, 40).forEach(n => Item.create({ n: n }))')
  const text = 'Item.byN().where(.n != 3).map(d => d.n).paginate(10)'
  const { after: cursor, data: page } = (await fql(first, secret, text)) as Page
  assert.deepEqual(page, [0, 1, 2, 4, 5, 6, 7, 8, 9, 10])
  await fql(first, secret, 'Item.byN({ from: 12, to: 12 }).first()!.delete()')
  await fql(first, secret, 'Item.create({ n: 13 })')
  const expected = [11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
  const next = 'Set.paginate(cursor)'
  for (let request = 0; request < requests; request++) {
    const { data: after10 } = (await fql(first, secret, next, { cursor })) as Page
    assert.deepEqual(after10, expected)
  }
  const { json, status } = await sendFql(first, neighbour, next, { cursor })
  assert.deepEqual([status, (json as { error: { code: string } }).error.code], [400, 'invalid_cursor'])
  const forged = `${cursor?.slice(0, -4)}AAAA`
  assert.equal((await sendFql(first, secret, next, { cursor: forged })).status, 400)
  await first.stop()

  await using second = await startProcess({ data, flags: workers })
  const { after: later, data: after10 } = (await fql(second, secret, next, { cursor })) as Page
  assert.deepEqual(after10, expected)
  const rest = (await fql(second, secret, 'Set.paginate(cursor, 100)', { cursor: later })) as Page
  assert.deepEqual(rest.data, [21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39])
  assert.equal(rest.after, undefined)
  await second.stop()
  await assertSound(data)
})
