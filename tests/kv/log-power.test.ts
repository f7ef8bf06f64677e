// Tests the commit log after a power failure at any operation of its files, such as the one between the flush of a file
// and the flush of its name. Everything acknowledged is there, no transaction is there in part, and the log continues
// without a gap. The power also fails again during the recovery. A second disk also reports at times that it is full,
// although it has stored the bytes. The file takes more than 20 seconds because it opens a hundred directories.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { systemTimers } from '../../src/base/timers.ts'
import { StoreUnavailableError } from '../../src/storage/kv/store-errors.ts'
import type { LogDisk } from '../../src/storage/log/segment-files.ts'
import type { FileOperation } from '../support/file-operations.ts'
import { pathsOfFile } from '../support/folder.ts'
import { RandomSource, seedsToRun } from '../support/seeded.ts'
import { bytes } from './bytes.ts'
import { newestWhole, rowsOf } from './log-rows.ts'
import { SimulatedDisk } from './simulated-disk.ts'

// The simulation replaces functions of Node, so it comes first.
const { openFollower } = await import('../../src/storage/log/follower.ts')
const { openLogged } = await import('../../src/storage/log/logged-store.ts')
const { flushedDisk, systemDisk } = await import('../../src/storage/log/segment-files.ts')

const newPath = pathsOfFile()

const segmentBytes = 8192
/** Segments are applied only when they are full. */
const timers = { ...systemTimers, after: () => () => undefined }

/** The number of transactions that a run commits, and that a recovery commits. */
const runLength = 100
const recoveryLength = 20
/** A power failure hits a share of the operations of each kind. The share of rare operations is larger. */
const oddsOf: Readonly<Record<FileOperation['kind'], number>> = {
  create: 2,
  write: 12,
  flush: 12,
  rename: 2,
  remove: 2,
  'flush names': 4,
  read: Number.POSITIVE_INFINITY,
}

/** The state after a power failure. */
interface Crash {
  readonly path: string
  /** The kind of the operation that was under way or just done. */
  readonly kind: FileOperation['kind']
  /** The newest transaction that was acknowledged, and the newest that had begun. */
  readonly acknowledged: number
  readonly begun: number
}

/** A write of the faulty disk fails with these odds. */
const faultOdds = 12

/** Commits transactions after `first` in a data directory, and returns what power failures meanwhile would have left. */
async function run(
  path: string,
  { disk, first, isFaulty, length, source }: RunOptions,
): Promise<readonly Crash[]> {
  const crashes: Crash[] = []
  let acknowledged = first
  let begun = first
  let isOpen = false
  const simulated = new SimulatedDisk(
    path,
    kind => {
      if (source.below(oddsOf[kind]) !== 0) return
      const left = newPath()
      simulated.crash(left, source)
      crashes.push({ path: left, kind, acknowledged, begun })
    },
    () => isFaulty && isOpen && source.below(faultOdds) === 0,
  )
  const open = () => {
    isOpen = false
    const opened = openLogged({ path, segmentBytes, timers, disk })
    isOpen = true
    return opened
  }
  let store = open()
  assert.equal(newestWhole(store), first)
  while (begun < first + length) {
    // Transactions of several batches could fail independently, so the faulty disk gets one transaction at a time.
    const numbers = Array.from({ length: isFaulty ? 1 : 1 + source.below(3) }, () => ++begun)
    // Some records are larger than a segment.
    const large = {
      key: bytes('large'),
      value: new Uint8Array(source.below(25) === 0 ? 2 * segmentBytes : 1),
    }
    try {
      await Promise.all(
        numbers.map(async number => {
          await store.transact(() => ({ result: undefined, writes: [...rowsOf(number), large] }))
          acknowledged = number
        }),
      )
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      if (error.outcome === 'not committed') begun = acknowledged
      else {
        await store.close()
        store = open()
        begun = acknowledged = newestWhole(store)
      }
      assert.equal(newestWhole(store), acknowledged)
    }
    if (source.below(60) !== 0) continue
    await store.close()
    store = open()
  }
  await store.close()
  simulated.end()
  return crashes
}

interface RunOptions {
  readonly disk: LogDisk
  readonly source: RandomSource
  /** True if the disk sometimes reports that it is full, although it has stored a write. */
  readonly isFaulty: boolean
  /** The newest existing transaction. */
  readonly first: number
  readonly length: number
}

/** The newest transaction after a crash. Asserts that it and all earlier transactions are complete. */
async function newestAfter({ acknowledged, begun, kind, path }: Crash): Promise<number> {
  const reading = openFollower({ path })
  const newest = newestWhole(reading)
  await reading.close()
  const range = `${acknowledged} to ${begun}`
  assert.ok(newest >= acknowledged && newest <= begun, `${newest} after a failure at ${kind}, ${range}`)
  return newest
}

for (const seed of seedsToRun([41, 42, 43, 44, 45])) {
  const disk = seed % 2 === 0 ? systemDisk : flushedDisk
  const isFaulty = seed % 5 === 4 || seed % 5 === 0
  const how = isFaulty ? ', and a faulty disk revives no rejected transaction' : ''
  test(`a power failure loses no acknowledged transaction${how} (seed ${seed})`, async context => {
    const source = new RandomSource(seed)
    const met = new Map<string, number>()
    const crashes = await run(newPath(), { disk, source, isFaulty, first: -1, length: runLength })
    for (const crash of crashes) {
      const first = await newestAfter(crash)
      met.set(crash.kind, (met.get(crash.kind) ?? 0) + 1)
      const length = 1 + source.below(recoveryLength)
      const again = await run(crash.path, { disk, source, isFaulty, first, length })
      const second = source.pick(again)
      if (second !== undefined) {
        const newest = await newestAfter(second)
        const store = openLogged({ path: second.path, segmentBytes, timers, disk })
        assert.equal(newestWhole(store), newest)
        await store.close()
      }
      for (const { path } of again) rmSync(path, { recursive: true })
      rmSync(crash.path, { recursive: true })
    }
    context.diagnostic([...met].map(([kind, count]) => `${kind} ${count}`).join(', '))
    assert.ok(crashes.length > 10)
  })
}
