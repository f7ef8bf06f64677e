// The process of a continuous backup is killed while it has unwritten records, and the service commits until the process
// has been replaced. Nothing is lost, and no new base copy is needed. A killed process is replaced after five seconds,
// which makes this file slow.

import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { listBases, planRestore } from '../../src/backup/catalogue.ts'
import { readLease } from '../../src/backup/lease.ts'
import { openTarget } from '../../src/backup/open-target.ts'
import { restoreInto } from '../../src/backup/restore.ts'
import { readStatus } from '../../src/backup/status-file.ts'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { fql, sendFql } from '../support/http.ts'
import { startServer } from '../support/server.ts'
import { startProcess } from '../support/server-process.ts'

const folder = folderOfFile()

test('records that a killed process had not written are sent to the next process', async () => {
  const address = join(folder, 'backup')
  const data = join(folder, 'data')
  const target = await openTarget(address)
  await using server = await startProcess({ data, flags: ['--backup-to', address] })
  let next = 0
  let newest = 0
  const run = async (text: string) => {
    const { json, status } = await sendFql(server, server.rootSecret, text)
    assert.equal(status, 200)
    newest = (json as { txn_ts: number }).txn_ts
  }
  const create = async (count: number) => {
    for (let made = 0; made < count; made++) await run(`items.create({ n: ${next++} })`)
  }
  const status = () => readStatus(data)
  const isComplete = () => status()?.state === 'running' && Number(status()?.newest_restorable) >= newest
  await run('Collection.create({ name: "items" })')
  await create(10)
  await eventually('the backup has a base copy and all commits', isComplete)
  for (let kill = 0; kill < 2; kill++) {
    await create(20)
    const pid = status()?.pid as number
    process.kill(pid, 'SIGKILL')
    await create(20)
    await eventually('the next process has written all commits', () => status()?.pid !== pid && isComplete())
  }
  assert.equal((await listBases(target)).length, 1)
  assert.equal(status()?.dropped_bytes, 0)
  await server.stop()
  const until = (await readLease(target))?.until ?? 0
  assert.ok(until > newest, 'the service has reported that no commit followed')
  const restored = join(folder, 'restored')
  await mkdir(restored)
  await restoreInto(target, await planRestore(target), restored)
  await using copy = await startServer({ data: restored })
  assert.equal(await fql(copy, copy.rootSecret, 'items.all().count()'), next)
})
