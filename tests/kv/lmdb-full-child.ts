// A process of its own whose files may not grow past some MB (`ulimit -f`, set by the test): a full disk. Prints the
// outcomes of a commit that does not fit, of a commit in the same batch, and of a later commit. Argument: folder.

import { openLmdb } from '../../src/storage/lmdb/lmdb.ts'
import { bytes, list, put, stoppedClock, write } from './bytes.ts'

// Without a listener, the signal of the limit would end the process.
process.on('SIGXFSZ', () => {})
const store = openLmdb({ path: process.argv[2] ?? '', clock: stoppedClock })
await store.transact(write(put('before', '1')))
const outcomes = await Promise.allSettled([
  store.transact(write({ key: bytes('large'), value: new Uint8Array(20_000_000) })),
  store.transact(write(put('beside', '1'))),
])
for (const outcome of outcomes)
  console.log(outcome.status === 'rejected' ? outcome.reason.name : outcome.status)
await store.transact(write(put('later', '1')))
console.log(list(store).join(' '))
await store.close()
