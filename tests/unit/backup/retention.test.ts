// Which objects a retention keeps, in which order the others are removed, and how two services agree on who writes.

import assert from 'node:assert/strict'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { test } from 'node:test'
import { oldestNeeded, removeBefore } from '../../../src/backup/base-copy.ts'
import { FolderTarget } from '../../../src/backup/folder-target.ts'
import { Lease, TargetInUseError } from '../../../src/backup/lease.ts'
import {
  type BaseName,
  baseObject,
  generationName,
  parseBase,
  parsePiece,
  partObject,
  pieceObject,
} from '../../../src/backup/object-names.ts'
import type { BackupTarget } from '../../../src/backup/target.ts'
import { micros } from '../../../src/base/micros.ts'
import { systemTimers } from '../../../src/base/timers.ts'
import { foldersOfFile } from '../../support/folder.ts'
import { withMethods } from './backed-store.ts'

const newFolder = foldersOfFile()

const hour = 3_600_000_000
const day = 24 * hour
const start = 1_700_000_000_000_000
const generation = generationName(micros(start), new Uint8Array(16))

const baseAt = (time: number): BaseName => ({
  generation,
  from: micros(time),
  time: micros(time),
  place: { sequence: (time - start) / hour + 1, checksum: 7 },
})

const pieceAt = (time: number) => ({
  ...{ generation, time: micros(time), since: micros(time - 1) },
  ...{ first: (time - start) / hour, before: 6, place: { sequence: (time - start) / hour + 1, checksum: 7 } },
})

test('names are read as they are written', () => {
  const base = baseAt(start + hour)
  assert.deepEqual(parseBase(baseObject(base)), base)
  const piece = pieceAt(start + hour)
  assert.deepEqual(parsePiece(pieceObject(piece)), piece)
  assert.equal(parseBase('bases/README.md'), undefined)
})

test('a folder lists more objects than a function can have arguments', async t => {
  const entryOf = (name: string, isDirectory: boolean) => ({ name, isDirectory: () => isDirectory })
  const pieces = new Array(1_000_000).fill(entryOf('piece', false))
  const readdir = async (path: string) => (path.includes(generation) ? pieces : [entryOf(generation, true)])
  t.mock.method(promises, 'readdir', readdir as typeof promises.readdir)
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  let count = 0
  for await (const _ of new FolderTarget('/backup').list('log/')) count++
  assert.equal(count, pieces.length)
})

test('the base copy that the oldest restorable time needs is the newest one of that age', () => {
  const bases = Array.from({ length: 100 }, (_, hours) => baseAt(start + hours * hour))
  const now = micros(start + 99 * hour)
  assert.equal(oldestNeeded(bases, now, 1), bases[75])
  assert.equal(oldestNeeded(bases, now, 30), bases[0])
  assert.equal(oldestNeeded([], now, 1), undefined)
})

test('a clock that leaps a year removes a day of history at most', () => {
  const bases = Array.from({ length: 100 }, (_, hours) => baseAt(start + hours * hour))
  assert.equal(oldestNeeded(bases, micros(start + 99 * hour + 365 * day), 3), bases[51])
})

/** A target that fails after `allowed` removals. */
function failing(inner: BackupTarget, allowed: number): BackupTarget {
  let left = allowed
  return withMethods(inner, {
    remove: async name => {
      if (left-- === 0) throw new Error('killed')
      await inner.remove(name)
    },
  })
}

test('a removal that is interrupted anywhere leaves whole base copies, and the next one completes it', async () => {
  const hours = [0, 1, 2, 3]
  for (let allowed = 0; allowed < 9; allowed++) {
    const target = new FolderTarget(newFolder())
    const bases = hours.map(each => baseAt(start + each * hour))
    const bytes = Buffer.from('x')
    for (const base of bases) {
      await target.put(partObject(base, 0), bytes)
      await target.put(baseObject(base), bytes)
      await target.put(pieceObject(pieceAt(base.time + hour)), bytes)
    }
    const oldest = bases[2] as BaseName
    await removeBefore(failing(target, allowed), bases, oldest).catch(() => undefined)
    const left = await names(target)
    for (const base of bases) {
      if (!left.includes(baseObject(base))) continue
      assert.ok(left.includes(partObject(base, 0)), 'a base copy has its parts')
      assert.ok(left.includes(pieceObject(pieceAt(base.time + hour))), 'a base copy has the records after it')
    }
    await removeBefore(target, bases, oldest)
    assert.deepEqual(await names(target), [
      ...bases.slice(2).map(baseObject),
      // The record at the time of the base copy may be needed.
      ...bases.slice(1).map(base => pieceObject(pieceAt(base.time + hour))),
      ...bases.slice(2).map(base => partObject(base, 0)),
    ])
  }
})

const names = (target: BackupTarget) => Array.fromAsync(target.list(''))

/** Timers that pass at once; `onWait` is called before. */
const instant = (onWait: () => Promise<void>) => ({
  after: (_: number, callback: () => void) => {
    void onWait().then(callback)
    return () => undefined
  },
  every: () => () => undefined,
})

test('a second service does not take the lease of one that renews it, and takes that of one that does not', async () => {
  const target = new FolderTarget(newFolder())
  const first = new Lease(target, systemTimers)
  await first.acquire()
  const rival = new Lease(
    target,
    instant(() => first.renew({ until: 0 })),
  )
  await assert.rejects(rival.acquire(), TargetInUseError)
  await first.renew({ until: 0 })
  const patient = new Lease(
    target,
    instant(async () => undefined),
  )
  await patient.acquire()
  await assert.rejects(
    first.renew({ until: 0 }),
    /another service \(process \d+ on .*\) writes its backup to .*another prefix/,
  )
})

test('a lease that was given back is taken at once', async () => {
  const target = new FolderTarget(newFolder())
  const first = new Lease(target, systemTimers)
  await first.acquire()
  await first.release({ until: 0 })
  const never = instant(() => assert.fail('nothing is waited for'))
  await new Lease(target, never).acquire()
})
