// A process that opens a directory while another process commits must not make LMDB forget the commit (OpenLDAP
// ITS#9496).

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { openLmdb } from '../../src/storage/lmdb/lmdb.ts'
import { folderOfFile } from '../support/folder.ts'
import { bytes, list, put, text, write } from './bytes.ts'

const folder = folderOfFile()

/** The position of the newest commit's number in the lock file. */
const newestOffset = 8
/** The number of commits when a new directory is opened. */
const commitsOfOpening = 2n

async function openInAnotherProcess(path: string, count: number): Promise<void> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'lmdb-openers-child.ts'), path, String(count)],
    {
      stdio: 'inherit',
    },
  )
  const code = await new Promise(resolve => child.once('close', resolve))
  assert.equal(code, 0)
}

test('a commit that LMDB has forgotten is not overwritten', async () => {
  const path = join(folder, 'forgotten')
  // The commit waits for the other process for a limited time, which does not pass here: a process may start slowly.
  const clock = { ...systemClock, elapsedMs: () => 0 }
  const store = openLmdb({ path, clock })
  for (const key of ['a', 'b', 'c']) await store.transact(write(put(key, '1')))
  // Simulates a process that opens the directory, reads the newest commit, is interrupted by the commits of `b` and `c`,
  // and continues. The file stays open, because closing it would release the locks of this process.
  const lock = openSync(join(path, 'lock.mdb'), 'r+')
  const number = Buffer.alloc(8)
  number.writeBigUInt64LE(commitsOfOpening + 1n)
  writeSync(lock, number, 0, 8, newestOffset)
  const written = store.transact(view => {
    assert.equal(text(view.get(bytes('c'))), '1', 'it sees the newest commit')
    return { result: undefined, writes: [put('d', '1')] }
  })
  await openInAnotherProcess(path, 1)
  await written
  assert.deepEqual(list(store), ['a=1', 'b=1', 'c=1', 'd=1'])
  await store.close()
})

test('no commit is lost while another process opens the directory repeatedly', async () => {
  const path = join(folder, 'openers')
  const store = openLmdb({ path, durable: false })
  let isOpening = true
  const opening = openInAnotherProcess(path, 200).finally(() => {
    isOpening = false
  })
  let commits = 0
  while (isOpening) {
    await store.transact(view => {
      assert.equal(text(view.get(bytes('count'))) ?? '0', String(commits), 'the commit before is there')
      return { result: undefined, writes: [put('count', String(commits + 1))] }
    })
    commits++
  }
  await opening
  await store.close()
})
