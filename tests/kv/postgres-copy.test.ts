// The copy of the store's state that a node makes at its start.

import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { test } from 'node:test'
import { systemRandom } from '../../src/base/random.ts'
import { openLmdb } from '../../src/storage/lmdb/lmdb.ts'
import { redoLog } from '../../src/storage/postgres/catch-up.ts'
import { advanceCheckpoint } from '../../src/storage/postgres/checkpoint.ts'
import type { CopyProgress } from '../../src/storage/postgres/copy-state.ts'
import { noteWrite, type ReplicaNote, readNote } from '../../src/storage/postgres/replica.ts'
import {
  markReplicaFlushed,
  openReplica,
  prepareReplica,
  replicaFolder,
} from '../../src/storage/postgres/replica-folder.ts'
import { folderOfFile } from '../support/folder.ts'
import { noPostgres } from '../support/postgres.ts'
import { recordOfTest } from '../support/record.ts'
import { list, put } from './bytes.ts'

const record = recordOfTest()
const folder = folderOfFile()
const otherMachine = folderOfFile()

test('a node continues an interrupted copy, and copies again after a restart of the machine without a shutdown', {
  skip: noPostgres,
}, async () => {
  const { location } = record
  const session = await record.session()
  const writer = await record.node('writer')
  const write = async (from: number, to: number) => {
    const writes = Array.from({ length: to - from }, (_, at) => put(`a${1000 + from + at}`, 'x'))
    await writer.transact(() => ({ result: undefined, writes }))
  }
  await write(0, 200)
  while (await advanceCheckpoint(session));

  let nodes = 0
  const prepare = async (keysMax: number, folderOfNode = folder) => {
    const run = { keys: 0, reason: '' }
    const onCopy = (reason: string) => {
      run.reason = reason
    }
    const onProgress = ({ keys }: CopyProgress) => {
      run.keys = keys
      if (keys > keysMax) throw new Error('interrupted')
    }
    // Each process of a node has another name.
    const node = `node ${nodes++}`
    const options = { location, folder: folderOfNode, node, random: systemRandom, onCopy, onProgress }
    await prepareReplica(options).catch(error => assert.equal((error as Error).message, 'interrupted'))
    return run
  }
  /** Changes the note of the replica, as if it had been written before a restart of the machine. */
  const restartMachine = async (more: Partial<ReplicaNote> = {}) => {
    const replica = openLmdb({ path: replicaFolder(folder), durable: false })
    const note = { ...(readNote(replica) as ReplicaNote), ...more, boot: 'another' }
    await replica.transact(() => ({ result: undefined, writes: [noteWrite(note)] }))
    await replica.close()
  }
  const first = await prepare(0)
  assert.ok(first.keys > 0 && first.keys < 200, `${first.keys} keys were copied`)
  await write(200, 210)
  assert.deepEqual(await prepare(1_000), {
    keys: 200 - first.keys,
    reason: 'an interrupted copy continues',
  })
  assert.deepEqual(await prepare(1_000), { keys: 0, reason: '' })
  const replica = openReplica(folder)
  await redoLog(session, replica)
  assert.deepEqual(list(replica, 'a'), list(writer, 'a'))
  await replica.close()

  // A normal shutdown flushes the replica.
  await markReplicaFlushed(folder)
  await restartMachine()
  cpSync(replicaFolder(folder), replicaFolder(otherMachine), { recursive: true })
  assert.deepEqual(await prepare(1_000, otherMachine), { keys: 0, reason: '' })
  assert.deepEqual(await prepare(1_000), { keys: 0, reason: '' })
  assert.deepEqual(await prepare(1_000), { keys: 0, reason: '' })

  // Otherwise, pages that were written before a restart of the machine may be of any age.
  const restarted = { keys: 200, reason: 'the machine has been restarted since it was written' }
  await restartMachine()
  assert.deepEqual(await prepare(1_000), restarted)
  await restartMachine({ isComplete: false })
  assert.deepEqual(await prepare(1_000), restarted)
})
