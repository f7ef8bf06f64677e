// A process of its own for the tests of the lmdb engine. Commits the keys 0, 1, 2 … one after the other, at most
// `count` of them, and prints each number once its promise has resolved.
// Arguments: folder, count.

import { writeSync } from 'node:fs'
import { openLmdb } from '../../src/storage/lmdb/lmdb.ts'
import { put, write } from './bytes.ts'

const [path = '', count = '0'] = process.argv.slice(2)
const store = openLmdb({ path })
for (let number = 0; number < Number(count); number++) {
  await store.transact(write(put(`n${number}`, 'x'.repeat(500))))
  // Bypasses the stream's buffer, which a kill would lose.
  writeSync(1, `${number}\n`)
}
await store.close()
