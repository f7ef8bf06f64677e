// A killed import continues where it was: each document is imported exactly once, whatever the moment.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { folderOfFile } from '../support/folder.ts'
import { query } from '../support/http.ts'
import { program, runProgram } from '../support/program.ts'
import { serverOfFile } from '../support/server.ts'
import { document } from './importing.ts'

const server = serverOfFile()
const folder = folderOfFile()

const count = 30_000
const kills = 3

test('after several kills, it ends with every document once', async () => {
  const lines = Array.from({ length: count }, (_, id) =>
    JSON.stringify({
      ref: document('many', String(id + 1)),
      ts: 1600000000000000 + id,
      data: { id, text: 'x'.repeat(200) },
    }),
  )
  const file = join(folder, 'many.jsonl')
  await writeFile(file, lines.join('\n'))
  const state = join(folder, 'state')
  const words = ['import', '--url', server.url, '--database', 'shop', '--state', state, file]
  const env = { ...process.env, TERRARIUM_SECRET: server.rootSecret }
  const secret = `${server.rootSecret}:shop:admin`
  const documents = {
    if: { exists: { collection: 'many' } },
    then: { count: { documents: { collection: 'many' } } },
    else: 0,
  }
  const arrived = async () => Number(await query(server, secret, documents).catch(() => 0))
  let last = 0
  for (let round = 0; round < kills; round++) {
    const child = spawn(process.execPath, [program, ...words], { env, stdio: 'ignore' })
    const exit = once(child, 'exit')
    const isOver = exit.then(() => true)
    // It is killed as soon as it has come further than the run before.
    for (;;) {
      if ((await arrived()) > last + 1000) break
      assert.ok(!(await Promise.race([isOver, setTimeout(50, false)])), 'it ended too early')
    }
    child.kill('SIGKILL')
    await exit
    last = await arrived()
    assert.ok(last < count, 'there is something left to do')
  }
  const { status, stderr, stdout } = await runProgram(words, { TERRARIUM_SECRET: server.rootSecret })
  assert.equal(status, 0, stderr)
  const [, read, written, equal] = /^many +(\d+) +(\d+) +(\d+)/m.exec(stdout)?.map(Number) ?? []
  assert.equal(read, count, 'every document is counted once')
  assert.equal((written ?? 0) + (equal ?? 0), count)
  // It continued: confirmed work was not repeated.
  assert.ok((written ?? 0) > (equal ?? 0), stdout)
  assert.equal(await arrived(), count)
  const versions = { count: { paginate: { events: document('many', '1') } } }
  assert.deepEqual(await query(server, secret, versions), { data: [1] })
  assert.deepEqual(await readdir(state), [], 'a finished import leaves nothing behind')
})
