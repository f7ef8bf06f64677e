// `terrarium each`: changes many documents in pages and continues from a cursor file, against a running server.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { commandsOn } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'
import { fql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
const folder = folderOfFile()
before(async () => {
  await query10('Collection.create({ name: "Orders" }); null')
  await query10('Set.sequence(1, 11).forEach(n => Orders.create({ id: n, n: n, times: 0, open: true }))')
})

const query10 = (text: string) => fql(server, server.rootSecret, text)

const each = (...words: string[]) => commandsOn(server).run('each', ...words)

const times = () => query10('Orders.all().map(.times).toArray()')

test('the function is applied to each element once, even if it removes documents from the set', async () => {
  const dry = await each('Orders.where(.open)', 'd => d.update({ open: false })', '--dry-run', '--batch', '3')
  assert.deepEqual(dry, { status: 0, stdout: 'would change 10 documents\n', stderr: '' })
  const change = ['Orders.where(.open) // all', 'd => d.update({ open: false, times: d.times + 1 }) // once']
  const done = await each(...change, '--batch', '3')
  assert.deepEqual(done, { status: 0, stdout: 'changed 10 documents\n', stderr: '' })
  assert.deepEqual(await times(), Array(10).fill(1))
  assert.equal(await query10('Orders.where(.open).count()'), 0)
})

test('after an error, the same command continues from the cursor file', async () => {
  const file = join(folder, 'orders.cursor')
  const change = [
    'Orders.all()',
    'd => { if (d.n == 8 && Orders.byId("8")!.stop != false) abort("stop"); d.update({ times: d.times + 1 }) }',
  ]
  const failed = await each(...change, '--batch', '3', '--cursor', file)
  assert.equal(failed.status, 1)
  assert.match(
    failed.stderr,
    /abort: [\s\S]*\n6 documents were changed\. Run the same command again to continue\.\n$/,
  )
  assert.deepEqual(await times(), [2, 2, 2, 2, 2, 2, 1, 1, 1, 1], 'the failed page has changed nothing')
  assert.equal(JSON.parse(await readFile(file, 'utf8')).documents, 6)
  const other = await each('Orders.all()', 'd => d.delete()', '--cursor', file)
  assert.match(other.stderr, /orders\.cursor is not a cursor of this change/)
  await query10('Orders.byId("8")!.update({ stop: false })')
  const done = await each(...change, '--batch', '3', '--cursor', file)
  assert.deepEqual(done, { status: 0, stdout: 'changed 10 documents\n', stderr: '' })
  assert.deepEqual(await times(), Array(10).fill(2))
  assert.ok(!existsSync(file), 'the file is removed at the end')
})

test('invalid expressions change nothing and are reported', async () => {
  const syntax = await each('Orders.all(', 'd => d')
  assert.equal(syntax.status, 1)
  assert.match(syntax.stderr, /^terrarium: invalid_query: /)
  const noSet = await each('5', 'd => d')
  assert.match(noSet.stderr, /invalid_|type/)
  assert.equal((await each('Orders.all()')).status, 2)
})
