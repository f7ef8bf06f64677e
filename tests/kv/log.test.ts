// The commit log on failing disks: no crash loses an acknowledged transaction, and damage is not mistaken for the end
// of the log.

import assert from 'node:assert/strict'
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { megabyte } from '../../src/base/bytes.ts'
import { systemTimers, wait } from '../../src/base/timers.ts'
import { encodeWrites } from '../../src/storage/kv/batch.ts'
import { StoreUnavailableError } from '../../src/storage/kv/store-errors.ts'
import { loggedLayout, plainLayout } from '../../src/storage/lmdb/folder.ts'
import { openLmdb } from '../../src/storage/lmdb/lmdb.ts'
import { openFollower } from '../../src/storage/log/follower.ts'
import { openLogged } from '../../src/storage/log/logged-store.ts'
import { flushedDisk, type LogDisk, logFolder } from '../../src/storage/log/segment-files.ts'
import { copyStore } from '../../src/storage/log/store-copy.ts'
import { pathsOfFile } from '../support/folder.ts'
import { RandomSource } from '../support/seeded.ts'
import { bytes, list, put, write } from './bytes.ts'
import { newestWhole, rowsOf } from './log-rows.ts'
import { fullDiskError } from './simulated-disk.ts'

const newPath = pathsOfFile()

const segmentBytes = 32_768
/** Segments are applied only when they are full. */
const never = { ...systemTimers, after: () => () => undefined }

const open = (path: string, more: Partial<Parameters<typeof openLogged>[0]> = {}) =>
  openLogged({ path, segmentBytes, timers: never, ...more })

const commit = (store: ReturnType<typeof openLogged>, number: number) =>
  store.transact(() => ({ result: undefined, writes: rowsOf(number) }))

/** A copy of the folder as after a crash. */
function crashed(path: string): string {
  const copy = newPath()
  // A file that is being filled gets its name when it is full.
  cpSync(path, copy, { recursive: true, filter: from => !/(lock\.mdb|\.draft)$/.test(from) })
  return copy
}

/** The segments of a folder by their names, the oldest first. */
const segmentsOf = (path: string) => readdirSync(join(path, logFolder)).sort()

/** Changes a byte of a file. */
function damage(file: string, at: number): void {
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.from([(readFileSync(file)[at] as number) ^ 0xff]), 0, 1, at)
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** The position of the second record of a segment. */
function secondRecord(file: string): number {
  return 64 + Math.ceil((32 + readFileSync(file).readUInt32LE(64 + 4)) / 8) * 8
}

async function openAndClose(path: string): Promise<number> {
  const store = open(path)
  const newest = newestWhole(store)
  await store.close()
  return newest
}

describe('the log after a crash', () => {
  test('a disk that loses any part of the last unflushed write has all acknowledged transactions', async () => {
    const path = newPath()
    const source = new RandomSource(7)
    let acknowledged = -1
    let crashes = 0
    const disk: LogDisk = {
      ...flushedDisk,
      async write(descriptor, piece, position) {
        const before = crashed(path)
        await flushedDisk.write(descriptor, piece, position)
        if (source.below(6) !== 0) return rmSync(before, { recursive: true })
        const name = segmentsOf(path).find(each => holds(join(path, logFolder, each), piece, position))
        tear(join(before, logFolder, name as string), piece, position, source)
        const newest = await openAndClose(before)
        assert.ok(newest === acknowledged || newest === acknowledged + 1, `${newest} after ${acknowledged}`)
        crashes++
      },
    }
    const store = open(path, { disk })
    for (let number = 0; number < 150; number++) {
      await commit(store, number)
      acknowledged = number
    }
    assert.ok(crashes > 10)
    await store.close()
    assert.equal(await openAndClose(path), 149)
  })

  test('a segment is written only after its name is on disk', async () => {
    const path = newPath()
    let flushed = new Set<string>()
    const disk: LogDisk = {
      ...flushedDisk,
      async flushFolder(name) {
        await flushedDisk.flushFolder(name)
        flushed = new Set(segmentsOf(path))
      },
      async write(descriptor, piece, position) {
        await flushedDisk.write(descriptor, piece, position)
        const name = segmentsOf(path).find(each => holds(join(path, logFolder, each), piece, position))
        assert.ok(flushed.has(name as string))
      },
    }
    const store = open(path, { disk })
    for (let number = 0; number < 200; number++) await commit(store, number)
    await store.close()
  })

  test('a log with a damaged record before others is rejected; a damaged last record is dropped', async () => {
    const path = newPath()
    const store = open(path)
    for (let number = 0; number < 3; number++) await commit(store, number)
    const middle = crashed(path)
    const end = crashed(path)
    await store.close()
    const [name] = segmentsOf(middle)
    const file = join(middle, logFolder, name as string)
    damage(file, secondRecord(file) + 40)
    for (const opening of [() => open(middle), () => openFollower({ path: middle })])
      assert.throws(opening, {
        name: StoreUnavailableError.name,
        message: /segment 1 of the commit log in .* is damaged at byte \d+; restore a backup/,
      })
    await assert.rejects(copyStore(middle, newPath()), /is damaged at byte/)
    const last = join(end, logFolder, name as string)
    const lastByte = readFileSync(last).findLastIndex(byte => byte !== 0)
    damage(last, lastByte)
    assert.equal(await openAndClose(end), 1)
  })

  test('missing and truncated segments, and segments of another store, are rejected', async () => {
    const path = newPath()
    const store = open(path)
    for (let number = 0; number < 3; number++) await commit(store, number)
    const without = crashed(path)
    const foreign = crashed(path)
    await store.close()
    rmSync(join(without, logFolder), { recursive: true })
    for (const opening of [openLogged, openFollower]) {
      assert.throws(() => {
        const opened = opening({ path: without })
        opened.read(() => undefined)
      }, /: copy a data directory with its commit log, or use "terrarium backup"/)
    }
    const other = newPath()
    const otherStore = open(other)
    await commit(otherStore, 0)
    const [name] = segmentsOf(other)
    copyFileSync(join(other, logFolder, name as string), join(foreign, logFolder, name as string))
    await otherStore.close()
    assert.throws(() => openLogged({ path: foreign, segmentBytes }), /is of another store/)
  })

  test('a folder that was closed properly needs no log', async () => {
    const path = newPath()
    const store = open(path)
    await commit(store, 0)
    await store.close()
    rmSync(join(path, logFolder), { recursive: true })
    assert.equal(await openAndClose(path), 0)
  })
})

/** Returns whether a file contains a piece at a position. */
function holds(
  file: string,
  { bytes: from, end, start }: Parameters<LogDisk['write']>[1],
  position: number,
): boolean {
  const content = readFileSync(file).subarray(position, position + end - start)
  return Buffer.compare(content, from.subarray(start, end)) === 0
}

/** Writes any of the sectors of a piece. */
function tear(
  file: string,
  { bytes: from, end, start }: Parameters<LogDisk['write']>[1],
  position: number,
  source: RandomSource,
): void {
  const sectorBytes = 512
  const descriptor = openSync(file, 'r+')
  for (let at = position; at < position + end - start; ) {
    const next = Math.min(position + end - start, (Math.floor(at / sectorBytes) + 1) * sectorBytes)
    const offset = start + at - position
    if (source.below(2) === 0) writeSync(descriptor, from, offset, next - at, at)
    at = next
  }
  closeSync(descriptor)
}

describe('appends that fail', () => {
  test('a write that fails is rejected and leaves no gap', async () => {
    const path = newPath()
    let isFailing = false
    const disk: LogDisk = {
      ...flushedDisk,
      async write(descriptor, piece, position) {
        if (!isFailing) return flushedDisk.write(descriptor, piece, position)
        isFailing = false
        // A part of it is written nevertheless.
        const half = piece.start + ((piece.end - piece.start) >> 1)
        await flushedDisk.write(descriptor, { ...piece, end: half }, position)
        throw fullDiskError()
      },
    }
    const store = open(path, { disk })
    await commit(store, 0)
    for (const _ of [0, 1]) {
      isFailing = true
      await assert.rejects(commit(store, 1), { outcome: 'not committed', message: /no space left/ })
    }
    assert.equal(newestWhole(store), 0)
    await commit(store, 1)
    assert.equal(newestWhole(store), 1)
    const copy = crashed(path)
    await store.close()
    assert.equal(await openAndClose(copy), 1)
  })

  test('a flush that fails ends the process', async () => {
    const path = newPath()
    let isLost = false
    const disk: LogDisk = { ...flushedDisk, flush: () => Promise.reject(new Error('EIO')) }
    const onLostFlush = () => {
      isLost = true
    }
    const store = open(path, { disk, onLostFlush })
    await assert.rejects(commit(store, 0))
    assert.ok(isLost)
    await store.close()
  })

  test('a full disk causes errors for writes and no loss', async () => {
    const path = newPath()
    let free = Number.POSITIVE_INFINITY
    const store = open(path, { freeBytes: () => free })
    await commit(store, 0)
    free = 1000
    await assert.rejects(commit(store, 1), { outcome: 'not committed', message: /the disk is full/ })
    assert.equal(newestWhole(store), 0)
    free = Number.POSITIVE_INFINITY
    await commit(store, 1)
    await store.close()
    assert.equal(await openAndClose(path), 1)
  })

  test('a disk that is too full to apply the log makes commits fail, and applying continues later', async () => {
    const path = newPath()
    let free = Number.POSITIVE_INFINITY
    const store = open(path, { freeBytes: () => free })
    await commit(store, 0)
    // The space is enough for each commit, but not for the pages of a whole segment.
    free = 16 * megabyte + 64 * 1024
    let committed = 0
    let failure: StoreUnavailableError | undefined
    while (failure === undefined && committed < 1000)
      await commit(store, committed + 1).then(
        () => committed++,
        error => {
          failure = error
        },
      )
    assert.match(String(failure), /cannot write to the store in .*: the disk is full: 16 MB are free/)
    assert.equal(failure?.outcome, 'not committed')
    assert.ok(committed > 0 && committed < 1000)
    assert.equal(newestWhole(store), committed)
    // A crash now loses nothing, nor does a close.
    const copy = crashed(path)
    assert.equal(await openAndClose(copy), committed)
    free = Number.POSITIVE_INFINITY
    await commit(store, ++committed)
    free = 16 * megabyte + 64 * 1024
    await store.close()
    assert.equal(await openAndClose(path), committed)
  })

  test('a store that is opened on a full disk accepts no commits, and is closed without an error', async () => {
    const path = newPath()
    await openAndClose(path)
    const store = open(path, { freeBytes: () => 16 * megabyte })
    await assert.rejects(commit(store, 0), { outcome: 'not committed', message: /the disk is full/ })
    await store.close()
    assert.equal(await openAndClose(path), -1)
  })
})

describe('the space that applying a segment needs', () => {
  test('is bounded by the pages of the trees, not by the number of rows', async () => {
    // A segment has some thousand rows, which would need far more space if each row copied two pages.
    const options = { path: newPath(), segmentBytes: 1 << 17, timers: never }
    const store = openLogged({ ...options, freeBytes: () => 28 * megabyte })
    for (let number = 0; number < 40; number++) {
      const writes = Array.from({ length: 1000 }, (_, at) => put(`D${(number * 517 + at) % 20_000}`, 'x'))
      await store.transact(() => ({ result: undefined, writes }))
    }
    await store.close()
    const opened = openLogged(options)
    assert.deepEqual(opened.applyLag, { bytes: 0, lagMs: 0 })
    assert.equal(list(opened, 'D', 'E').length, 20_000)
    await opened.close()
  })
})

test('after a segment is applied, LMDB still lags behind the records of the next segment', async () => {
  const store = open(newPath())
  for (let number = 0; store.applyLag.bytes <= segmentBytes; number++) await commit(store, number)
  while (store.applyLag.bytes >= segmentBytes / 2) await wait(5)
  assert.ok(store.applyLag.bytes > 0)
  assert.ok(store.applyLag.lagMs > 0)
  await store.close()
})

describe('segments', () => {
  test('a log is opened without removing the file of its next segment, which shows that it is complete', async () => {
    const path = newPath()
    const store = open(path)
    await commit(store, 0)
    await store.close()
    const [first, next] = segmentsOf(path).map(name => join(path, logFolder, name)) as [string, string]
    // A crash may leave more files than are reused.
    copyFileSync(first, join(path, logFolder, '0'.repeat(16)))
    const { ino } = statSync(next)
    const opened = open(path)
    assert.equal(statSync(next).ino, ino)
    await opened.close()
    assert.equal(await openAndClose(path), 0)
  })

  test('are filled, applied and reused', async () => {
    const path = newPath()
    const store = open(path)
    for (let number = 0; number < 400; number++) await commit(store, number)
    assert.equal(newestWhole(store), 399)
    const names = segmentsOf(path)
    assert.ok(names.length <= 8, `${names.length} segments`)
    assert.ok(names.every(name => statSync(join(path, logFolder, name)).size === segmentBytes))
    await store.close()
    assert.equal(await openAndClose(path), 399)
  })

  test('a record that is larger than a segment gets its own segment', async () => {
    const path = newPath()
    const store = open(path)
    await commit(store, 0)
    const large = { key: bytes('large'), value: new Uint8Array(100_000).fill(7) }
    await store.transact(() => ({ result: undefined, writes: [large] }))
    function* pieces() {
      for (let at = 0; at < 40; at++)
        yield encodeWrites(Array.from({ length: 50 }, (_, row) => put(`piece ${at} ${row}`, 'x'.repeat(20))))
    }
    const large2000 = { rowsMax: 2000, bytesMax: 80_000, [Symbol.iterator]: pieces }
    await store.transact(() => ({ result: undefined, writes: [put('pieces', '1')], pieces: large2000 }))
    await commit(store, 1)
    const check = (opened: typeof store) => {
      assert.equal(newestWhole(opened), 1)
      assert.deepEqual(
        opened.read(view => view.get(large.key)),
        large.value,
      )
      assert.equal(list(opened, 'piece ', 'piece!').length, 2000)
    }
    check(store)
    await store.close()
    const again = open(path)
    check(again)
    await again.close()
  })
})

describe('records that are larger than a segment', () => {
  const large = { key: bytes('large'), value: new Uint8Array(100_000).fill(7) }
  const commitLarge = (store: ReturnType<typeof openLogged>) =>
    store.transact(() => ({ result: undefined, writes: [large] }))

  for (const [when, before] of [
    ['are the first of all', 0],
    ['follow others', 3],
  ] as const)
    test(`leave no gap when they ${when}`, async () => {
      const path = newPath()
      const store = open(path)
      for (let number = 0; number < before; number++) await commit(store, number)
      await commitLarge(store)
      await commitLarge(store)
      await commit(store, before)
      const reader = openFollower({ path, durable: () => store.logSequence })
      assert.equal(newestWhole(reader), before)
      await reader.close()
      const copy = crashed(path)
      await store.close()
      assert.equal(await openAndClose(copy), before)
    })

  test('leave no gap when they begin a segment because the one before them is old', async () => {
    const path = newPath()
    let makeOld = () => {}
    const timers = {
      ...systemTimers,
      after: (_: number, callback: () => void) => {
        makeOld = callback
        return () => undefined
      },
    }
    const store = openLogged({ path, segmentBytes, timers })
    await commit(store, 0)
    makeOld()
    await commitLarge(store)
    await commit(store, 1)
    const copy = crashed(path)
    await store.close()
    assert.equal(await openAndClose(copy), 1)
  })
})

describe('folders of other layouts', () => {
  test('a folder without a log is opened and gets one; engines without a log then reject it', async () => {
    const path = newPath()
    const before = openLmdb({ path })
    await before.transact(write(put('a', '1')))
    await before.close()
    const reading = openFollower({ path })
    assert.deepEqual(list(reading), ['a=1'])
    await reading.close()
    const store = open(path)
    assert.deepEqual(list(store), ['a=1'])
    await store.transact(write(put('b', '2')))
    await store.close()
    const message = `has data layout ${loggedLayout}, and this version reads layout ${plainLayout} only`
    assert.throws(() => openLmdb({ path }), new RegExp(message))
    const again = openFollower({ path })
    assert.deepEqual(list(again), ['a=1', 'b=2'])
    await again.close()
  })

  test('the folder of segments is readable only by its owner', async () => {
    const path = newPath()
    mkdirSync(path, { recursive: true })
    const store = open(path)
    await commit(store, 0)
    assert.ok(existsSync(join(path, logFolder)))
    assert.equal(statSync(join(path, logFolder)).mode & 0o777, 0o700)
    for (const name of segmentsOf(path))
      assert.equal(statSync(join(path, logFolder, name)).mode & 0o777, 0o600)
    await store.close()
  })
})
