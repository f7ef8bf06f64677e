// A power failure may remove each name that was not flushed with its folder. All names that a data directory needs are
// flushed before the first commit is acknowledged.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { put, write } from './bytes.ts'

/** The names that a power failure leaves in each folder. */
const durable = new Map<string, readonly string[]>()
const folders = new Map<number, string>()
const { fsyncSync, openSync } = fs
Object.assign(fs, {
  openSync(path: string, flags: string | number = 'r', mode?: number) {
    const descriptor = openSync(path, flags, mode)
    folders.set(descriptor, path)
    return descriptor
  },
  fsyncSync(descriptor: number) {
    fsyncSync(descriptor)
    const path = folders.get(descriptor)
    if (path !== undefined && fs.statSync(path).isDirectory()) durable.set(path, fs.readdirSync(path))
  },
})
syncBuiltinESMExports()

// The interception replaces functions of Node, so it comes first.
const { prepareDataFolder } = await import('../../src/app/data-folder.ts')
const { claimFolder } = await import('../../src/storage/lmdb/claim.ts')
const { openLmdb } = await import('../../src/storage/lmdb/lmdb.ts')
const { openLogged } = await import('../../src/storage/log/logged-store.ts')

const folder = folderOfFile()

/** Asserts that a power failure leaves a path below the folder of this file. */
function assertDurable(path: string): void {
  for (let name = path; name !== folder; name = dirname(name)) {
    const names = durable.get(dirname(name)) ?? []
    assert.ok(names.includes(name.slice(dirname(name).length + 1)), `the name of ${name} is on disk`)
  }
}

test('the names of a data directory with a commit log are on disk before its first commit', async () => {
  const path = join(folder, 'new', 'logged', 'data')
  prepareDataFolder(path)
  assertDurable(path)
  const release = claimFolder(path)
  const store = openLogged({ path })
  await store.transact(write(put('a', '1')))
  for (const name of ['data.mdb', 'service', 'commit-log']) assertDurable(join(path, name))
  await store.close()
  await release()
})

test('the names of a store without a log are on disk before its first commit', async () => {
  const path = join(folder, 'new', 'plain')
  const store = openLmdb({ path })
  assertDurable(join(path, 'data.mdb'))
  await store.close()
})
