// Copies of stores. LMDB's compacted copies have an empty list of free pages, and the first large transaction on such a
// copy used to kill the process.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemTimers } from '../../src/base/timers.ts'
import type { KeyValueStore, Write } from '../../src/storage/kv/kv-contract.ts'
import { closeFolder, openFolder } from '../../src/storage/lmdb/folder.ts'
import { openLmdb } from '../../src/storage/lmdb/lmdb.ts'
import { openFollower } from '../../src/storage/log/follower.ts'
import { openLogged } from '../../src/storage/log/logged-store.ts'
import { copyStore } from '../../src/storage/log/store-copy.ts'
import { foldersOfFile } from '../support/folder.ts'
import { bytes, list } from './bytes.ts'

const newFolder = foldersOfFile()

/** Segments are applied only when they are full. */
const never = { ...systemTimers, after: () => () => undefined }

/** Writes a row to each of 1 200 pages. */
function touchPages(generation: string): Write[] {
  return Array.from({ length: 4800 }, (_, number) => ({
    key: bytes(`D${String(number).padStart(8, '0')}`),
    value: bytes(generation.padEnd(900, '.')),
  }))
}

async function commit(store: KeyValueStore, writes: readonly Write[]): Promise<void> {
  await store.transact(() => ({ result: undefined, writes }))
}

const generationsIn = (store: KeyValueStore) => new Set(list(store).map(row => row.split('=')[1]))

test('a copy contains a log that replaces more than a thousand pages', async () => {
  const path = newFolder()
  const first = openLogged({ path })
  await commit(first, touchPages('old'))
  await first.close()
  const store = openLogged({ path, timers: never })
  const writes = touchPages('new')
  for (let from = 0; from < writes.length; from += 600) await commit(store, writes.slice(from, from + 600))
  const to = newFolder()
  await copyStore(path, to)
  await store.close()
  const copy = openFollower({ path: to })
  assert.deepEqual([...generationsIn(copy)], ['new'.padEnd(900, '.')])
  await copy.close()
})

test('the first transaction on a compacted copy of an earlier version may replace any number of pages', async () => {
  const path = newFolder()
  const store = openLmdb({ path })
  await commit(store, touchPages('old'))
  await store.close()
  const source = openFolder(path)
  const to = newFolder()
  await source.root.backup(to, true)
  await closeFolder(source)
  const copy = openLmdb({ path: to })
  await commit(copy, touchPages('new'))
  assert.deepEqual([...generationsIn(copy)], ['new'.padEnd(900, '.')])
  await copy.close()
})
