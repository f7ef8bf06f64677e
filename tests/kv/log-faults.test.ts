// The commit log on a disk that reports errors: each transaction has the outcome that its client gets, also after the
// next start.

import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterEach, describe, test } from 'node:test'
import { systemTimers } from '../../src/base/timers.ts'
import type { KeyValueStore } from '../../src/storage/kv/kv-contract.ts'
import type { LogDisk } from '../../src/storage/log/segment-files.ts'
import { type FileOperation, intercept } from '../support/file-operations.ts'
import { pathsOfFile } from '../support/folder.ts'
import { RandomSource } from '../support/seeded.ts'
import { bytes } from './bytes.ts'
import { newestWhole, rowsOf } from './log-rows.ts'
import { fullDiskError, SimulatedDisk } from './simulated-disk.ts'

/** Called with each operation on a log; an error that it throws is the result of the operation. */
let fault: (operation: FileOperation) => void = () => undefined
intercept({ before: operation => fault(operation) })

// The interception replaces functions of Node, so it comes first.
const { claimFolder } = await import('../../src/storage/lmdb/claim.ts')
const { copyStore } = await import('../../src/storage/log/store-copy.ts')
const { DurableSequence } = await import('../../src/storage/log/durable-sequence.ts')
const { openFollower } = await import('../../src/storage/log/follower.ts')
const { openLogged } = await import('../../src/storage/log/logged-store.ts')
const { flushedDisk, logFolder, systemDisk } = await import('../../src/storage/log/segment-files.ts')

afterEach(() => {
  fault = () => undefined
})

const newPath = pathsOfFile()

const segmentBytes = 32_768
/** Timers whose calls a test makes itself. */
function manualTimers() {
  let calls: (() => void)[] = []
  const timers = {
    ...systemTimers,
    after: (_: number, call: () => void) => {
      calls.push(call)
      return () => {
        calls = calls.filter(each => each !== call)
      }
    },
  }
  const fire = () => {
    const due = calls
    calls = []
    for (const call of due) call()
  }
  return { timers, fire }
}
const never = { ...systemTimers, after: () => () => undefined }

const commit = (store: KeyValueStore, number: number) =>
  store.transact(() => ({ result: undefined, writes: rowsOf(number) }))

/** A copy of the folder as after a kill. */
function killed(path: string): string {
  const copy = newPath()
  cpSync(path, copy, { recursive: true, filter: from => !/(lock\.mdb|-lock|\.draft)$/.test(from) })
  return copy
}

async function newestIn(path: string): Promise<number> {
  const store = openLogged({ path, segmentBytes, timers: never })
  const newest = newestWhole(store)
  await store.close()
  return newest
}

const eio = () => Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })

/** A disk over `disk` that stores each write, but reports the error that `outcome` returns for the write. */
function lyingDisk(disk: LogDisk, outcome: (isFlush: boolean) => Error | undefined): LogDisk {
  const { flush } = disk
  return {
    ...disk,
    async write(descriptor, piece, position) {
      await disk.write(descriptor, piece, position)
      const error = outcome(false)
      if (error) throw error
    },
    ...(flush && {
      async flush(descriptor: number) {
        await flush(descriptor)
        const error = outcome(true)
        if (error) throw error
      },
    }),
  }
}

const disks = [
  ['writes that flush', systemDisk, false],
  ['a separate flush, and a write that fails', flushedDisk, false],
  ['a separate flush that fails', flushedDisk, true],
] as const

describe('a disk that stores a record and reports that it is full', () => {
  for (const [name, disk, isFlush] of disks)
    test(`does not contain the record after the error (${name})`, async () => {
      const path = newPath()
      const { fire, timers } = manualTimers()
      let isFull = false
      const lying = lyingDisk(disk, flush => {
        if (!isFull || flush !== isFlush) return undefined
        isFull = false
        return fullDiskError()
      })
      const store = openLogged({ path, segmentBytes, timers, disk: lying })
      // The first record of a segment, and a later record.
      for (const newest of [-1, 0]) {
        isFull = true
        await assert.rejects(commit(store, newest + 1), { outcome: 'not committed', message: /ENOSPC/ })
        assert.equal(newestWhole(store), newest)
        assert.equal(await newestIn(killed(path)), newest)
        await commit(store, newest + 1)
        assert.equal(await newestIn(killed(path)), newest + 1)
      }
      isFull = true
      await assert.rejects(commit(store, 2), { outcome: 'not committed' })
      // Ends the segment, so the next record is in another segment.
      fire()
      await commit(store, 2)
      assert.equal(await newestIn(killed(path)), 2)
      await store.close()
      assert.equal(await newestIn(path), 2)
    })

  test('has an unknown outcome if the record cannot be revoked, or after another error', async () => {
    for (const [disk, error, failures] of [
      [systemDisk, fullDiskError, 2],
      [flushedDisk, fullDiskError, 2],
      [systemDisk, eio, 1],
      [flushedDisk, eio, 1],
    ] as const) {
      const path = newPath()
      let failing = 0
      let losses = 0
      const lying = lyingDisk(disk, flush => (!flush && failing-- > 0 ? error() : undefined))
      const onLostFlush = () => {
        losses++
      }
      const store = openLogged({ path, segmentBytes, timers: never, disk: lying, onLostFlush })
      await commit(store, 0)
      failing = failures
      await assert.rejects(commit(store, 1), { outcome: 'unknown' })
      assert.equal(losses, 1)
      await assert.rejects(commit(store, 1), { outcome: 'not committed' })
      const left = killed(path)
      assert.equal(newestWhole(store), 0)
      await store.close()
      const newest = await newestIn(left)
      assert.ok(newest === 0 || newest === 1)
    }
  })

  test('does not get the record into a backup that is taken before the error', async () => {
    const path = newPath()
    mkdirSync(path)
    const release = claimFolder(path)
    let beforeError: (() => void) | undefined
    const disk: LogDisk = {
      ...systemDisk,
      async write(descriptor, piece, position) {
        await systemDisk.write(descriptor, piece, position)
        const call = beforeError
        beforeError = undefined
        if (!call) return
        call()
        throw fullDiskError()
      },
    }
    const store = openLogged({ path, segmentBytes, timers: never, disk })
    const rejected = { key: bytes('rejected'), value: bytes('1') }
    await commit(store, 0)
    const reading = openFollower({ path })
    const to = newPath()
    mkdirSync(to)
    let copy: Promise<void> | undefined
    let isCopied = false
    beforeError = () => {
      assert.equal(newestWhole(reading), 1)
      // The copy begins with a read of the log.
      copy = copyStore(path, to).finally(() => {
        isCopied = true
      })
      copy.catch(() => undefined)
    }
    const failing = store.transact(() => ({ result: undefined, writes: [...rowsOf(1), rejected] }))
    await assert.rejects(failing, { outcome: 'not committed' })
    assert.equal(newestWhole(reading), 0)
    for (let number = 1; !isCopied; number++) {
      await commit(store, number)
      assert.equal(newestWhole(reading), number)
    }
    await copy
    await reading.close()
    const copied = openFollower({ path: to })
    assert.ok(newestWhole(copied) >= 0)
    assert.equal(
      copied.read(view => view.get(rejected.key)),
      undefined,
    )
    await copied.close()
    await store.close()
    await release()
  })
})

describe('a log that was read from the page cache', () => {
  test('has the same end on the disk before further records follow', async () => {
    const path = newPath()
    const before = openLogged({ path, segmentBytes, timers: never })
    for (const number of [0, 1]) await commit(before, number)
    const left = killed(path)
    await before.close()
    const name = readdirSync(join(left, logFolder)).sort()[0] as string
    const simulated = new SimulatedDisk(left)
    // A flush has failed: the disk lacks the last record, which the page cache contains.
    const second =
      64 + Math.ceil((32 + readFileSync(join(left, logFolder, name)).readUInt32LE(64 + 4)) / 8) * 8
    simulated.forget(name, second, segmentBytes)
    const store = openLogged({ path: left, segmentBytes, timers: never })
    assert.equal(newestWhole(store), 1)
    await commit(store, 2)
    const crashed = newPath()
    simulated.crash(crashed, new RandomSource(1))
    simulated.end()
    await store.close()
    assert.equal(await newestIn(crashed), 2)
  })
})

describe('the number of the newest durable record', () => {
  const isNumber = ({ kind, path }: FileOperation) => kind === 'write' && basename(path) === 'durable'

  /** The receiver of the records for a backup, which calls `add` with the number of each record. */
  const recordsTo = (add: (sequence: number) => unknown) => ({
    begin: () => undefined,
    add: (_: Uint8Array, { sequence }: { readonly sequence: number }) => void add(sequence),
    end: () => Promise.resolve(),
  })

  test('is written again after an error, before the commit is acknowledged', async () => {
    const path = newPath()
    const shipped: number[] = []
    const records = recordsTo(sequence => shipped.push(sequence))
    const store = openLogged({ path, segmentBytes, timers: never, isFollowed: true, records })
    const durable = new DurableSequence(join(path, logFolder), 'read')
    const reading = openFollower({ path, durable: () => durable.read() })
    let failures = 3
    fault = operation => {
      if (isNumber(operation) && failures-- > 0) throw eio()
    }
    await commit(store, 0)
    assert.equal(newestWhole(reading), 0)
    assert.deepEqual(shipped, [1])
    await reading.close()
    durable.close()
    await store.close()
  })

  test('ends the process if it cannot be written; the next start publishes the commit', async () => {
    const path = newPath()
    const shipped: number[] = []
    const records = recordsTo(sequence => shipped.push(sequence))
    let losses = 0
    const onLostFlush = () => {
      losses++
    }
    const options = { path, segmentBytes, timers: never, isFollowed: true }
    const store = openLogged({ ...options, records, onLostFlush })
    await commit(store, 0)
    fault = operation => {
      if (isNumber(operation)) throw fullDiskError()
    }
    await assert.rejects(commit(store, 1), { outcome: 'unknown', message: /cannot be published/ })
    assert.equal(losses, 1)
    assert.deepEqual(shipped, [1, 2])
    await assert.rejects(commit(store, 2), { outcome: 'not committed' })
    fault = () => undefined
    const left = killed(path)
    await store.close()
    const next = openLogged({ ...options, path: left })
    const durable = new DurableSequence(join(left, logFolder), 'read')
    assert.equal(durable.read(), 2)
    const reading = openFollower({ path: left, durable: () => durable.read() })
    assert.equal(newestWhole(reading), 1)
    await reading.close()
    durable.close()
    await next.close()
  })

  test('does not reject a commit whose record cannot be sent to the backup', async () => {
    const path = newPath()
    const records = recordsTo(() => {
      throw new Error('the backup is gone')
    })
    const store = openLogged({ path, segmentBytes, timers: never, records })
    await assert.rejects(commit(store, 0), { outcome: 'unknown' })
    await store.close()
    assert.equal(await newestIn(path), 0)
  })
})

describe('files that cannot be prepared or removed', () => {
  const drafts = (path: string) => readdirSync(join(path, logFolder)).filter(name => name.endsWith('.draft'))

  test('no commit fails because an earlier preparation of its segment failed, and no draft stays', async () => {
    const path = newPath()
    const { fire, timers } = manualTimers()
    const store = openLogged({ path, segmentBytes, timers })
    let failed = 0
    fault = ({ kind, path: file }) => {
      if (kind !== 'write' || !file.endsWith('2.draft')) return
      failed++
      throw fullDiskError()
    }
    await commit(store, 0)
    // The preparation of the second segment has failed by the time the first segment ends.
    while (failed === 0) await new Promise(setImmediate)
    fault = () => undefined
    fire()
    await commit(store, 1)
    assert.equal(newestWhole(store), 1)
    await store.close()
    assert.deepEqual(drafts(path), [])
    assert.equal(await newestIn(path), 1)
  })

  test('commits fail while no file can be prepared, succeed afterwards, and drafts are removed', async () => {
    const path = newPath()
    const { fire, timers } = manualTimers()
    const store = openLogged({ path, segmentBytes, timers })
    fault = ({ kind, path: file }) => {
      if (kind === 'write' && file.endsWith('2.draft')) throw fullDiskError()
    }
    await commit(store, 0)
    fire()
    for (const _ of [0, 1]) {
      await assert.rejects(commit(store, 1), { outcome: 'not committed', message: /ENOSPC/ })
      assert.deepEqual(drafts(path), [])
    }
    fault = () => undefined
    await commit(store, 1)
    await store.close()
  })

  test('a draft of a killed process is removed when the log is opened', async () => {
    const path = newPath()
    const store = openLogged({ path, segmentBytes, timers: never })
    await commit(store, 0)
    await store.close()
    const draft = join(path, logFolder, '0000000000000099.draft')
    cpSync(join(path, 'data.mdb'), draft)
    assert.equal(await newestIn(path), 0)
    assert.ok(!existsSync(draft))
  })

  test('a segment whose file cannot be removed stops neither commits nor the thread that applies segments', async () => {
    const path = newPath()
    let removals = 0
    fault = ({ kind }) => {
      if (kind !== 'remove') return
      removals++
      throw eio()
    }
    const store = openLogged({ path, segmentBytes, timers: never })
    const large = { key: Buffer.from('large'), value: new Uint8Array(2 * segmentBytes) }
    for (let number = 0; removals === 0; number++)
      await store.transact(() => ({ result: undefined, writes: [...rowsOf(number), large] }))
    const newest = newestWhole(store)
    await commit(store, newest + 1)
    await store.close()
    fault = () => undefined
    assert.equal(await newestIn(path), newest + 1)
  })
})
