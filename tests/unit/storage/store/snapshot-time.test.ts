// A snapshot of time S contains every commit up to S, also while commits are being flushed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { systemClock } from '../../../../src/base/clock.ts'
import { openLmdb } from '../../../../src/storage/lmdb/lmdb.ts'
import { Store } from '../../../../src/storage/store/store.ts'
import { native, Ref, rootDatabase } from '../../../../src/values/value.ts'
import { folderOfFile } from '../../../support/folder.ts'

const folder = folderOfFile()

const writers = 8
const writesEach = 100

test('every snapshot contains all commits up to its time', async () => {
  const hooks = { evaluateBinding: () => undefined }
  const store = new Store(openLmdb({ path: folder }), { clock: systemClock.now, hooks })
  const snapshots: { time: number; newest: number }[] = []
  const commits: number[] = []
  let isWriting = true
  const read = async () => {
    while (isWriting) {
      snapshots.push(
        store.read(({ snapshotTime, lastCommitTime }) => ({ time: snapshotTime, newest: lastCommitTime }))
          .result,
      )
      await turn()
    }
  }
  const write = async (writer: number) => {
    const ref = new Ref(rootDatabase, native.keys, BigInt(writer + 1))
    for (let n = 0; n < writesEach; n++) {
      commits.push((await store.write(transaction => transaction.put(ref, new Map([['n', BigInt(n)]])))).time)
      // Each writer pauses differently, so that batches of all sizes follow each other.
      for (let pause = (n * (writer + 3)) % 5; pause > 0; pause--) await turn()
    }
  }
  const reading = read()
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  isWriting = false
  await reading
  await store.close()
  assert.equal(new Set(commits).size, writers * writesEach)
  for (const { newest, time } of snapshots) {
    assert.ok(time > newest, 'what has been written lies in the past of who reads it')
    const missing = commits.filter(commit => commit > newest && commit <= time)
    assert.deepEqual(missing, [], `the snapshot of ${time} ends with the commit of ${newest}`)
  }
})
