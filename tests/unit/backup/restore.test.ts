// Restores a continuous backup from a folder.

import assert from 'node:assert/strict'
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { checkHistory, listBases, planRestore } from '../../../src/backup/catalogue.ts'
import { FolderTarget } from '../../../src/backup/folder-target.ts'
import { readLease } from '../../../src/backup/lease.ts'
import { packObject } from '../../../src/backup/object-format.ts'
import { type BaseName, baseObject, parsePiece } from '../../../src/backup/object-names.ts'
import { restoreInto } from '../../../src/backup/restore.ts'
import { BackupError } from '../../../src/backup/target.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { micros } from '../../../src/base/micros.ts'
import { flushedDisk, type LogDisk } from '../../../src/storage/log/segment-files.ts'
import { formatMicros } from '../../../src/values/time.ts'
import { eventually } from '../../support/eventually.ts'
import { foldersOfFile } from '../../support/folder.ts'
import { BackedStore, restoredNumbers, withMethods } from './backed-store.ts'

const newFolder = foldersOfFile()

const upTo = (count: number) => Array.from({ length: count }, (_, number) => number)

test('each commit of a batch can be restored to', async () => {
  const [data, folder] = [newFolder(), newFolder()]
  const target = new FolderTarget(folder)
  const store = new BackedStore({ data, target })
  await store.commitSettled(upTo(5))
  const times = [...(await store.commit([5, 6, 7, 8])), ...(await store.commit([9]))]
  await store.close()
  for (const [at, time] of times.entries()) {
    assert.deepEqual(await restoredNumbers(target, time), upTo(6 + at))
    assert.deepEqual(await restoredNumbers(target, micros(time - 1)), upTo(5 + at))
  }
  assert.deepEqual(await restoredNumbers(target), upTo(10))
})

/** A folder with a backup of five commits in at least three pieces; the names of its pieces and the times of the commits. */
async function severalPieces() {
  const [data, folder] = [newFolder(), newFolder()]
  const target = new FolderTarget(folder)
  const store = new BackedStore({ data, target })
  await store.commitSettled([0])
  const times: number[] = []
  for (const number of [1, 2, 3]) times.push(...(await store.commitSettled([number])))
  await store.close()
  const names = await Array.fromAsync(target.list('log/'))
  const pieces = names.filter(name => Number(parsePiece(name)?.first) > 1)
  assert.equal(pieces.length, 3)
  return { folder, target, pieces, times }
}

test('the error of a missing piece names the newest restorable time', async () => {
  const { folder, target, pieces, times } = await severalPieces()
  rmSync(join(folder, pieces[1] as string))
  const before = formatMicros(times[0] as number)
  const message = new RegExp(`lacks records of the commit log from \\d+ on; .* is ${before}$`)
  await assert.rejects(restoredNumbers(target), { name: 'BackupError', message })
  await assert.rejects(restoredNumbers(target, micros(times[2] as number)), { name: 'BackupError', message })
  // The missing piece may contain commits up to this time: the next piece shows that records are missing.
  for (const time of [(times[0] as number) + 1, (times[1] as number) + 1])
    await assert.rejects(restoredNumbers(target, micros(time)), { name: 'BackupError', message })
  await assert.rejects(checkHistory(target), { name: 'BackupError', message })
  assert.deepEqual(await restoredNumbers(target, micros(times[0] as number)), [0, 1])
})

test('a restore of a state that the newest pieces contain fails if these pieces are missing', async () => {
  const { folder, target, pieces, times } = await severalPieces()
  rmSync(join(folder, pieces[2] as string))
  const message = new RegExp(`lacks its newest objects; .* is ${formatMicros(times[1] as number)}$`)
  await assert.rejects(restoredNumbers(target), { name: 'BackupError', message })
  await assert.rejects(restoredNumbers(target, micros(times[2] as number)), { name: 'BackupError', message })
  assert.deepEqual(await restoredNumbers(target, micros(times[1] as number)), [0, 1, 2])
  // A lease of an earlier version does not name the newest record.
  const lease = join(folder, 'lease.json')
  const { newest, ...content } = JSON.parse(readFileSync(lease, 'utf8')) as { newest: unknown }
  assert.ok(newest)
  writeFileSync(lease, JSON.stringify(content))
  assert.deepEqual(await restoredNumbers(target), [0, 1, 2])
})

test('a restore fails if the base copies of the newest generation are missing', async () => {
  const [data, folder, second] = [newFolder(), newFolder(), newFolder()]
  const target = new FolderTarget(folder)
  const first = new BackedStore({ data, target })
  const [early] = await first.commitSettled([0])
  await first.close()
  await restoreInto(target, await planRestore(target), second)
  const restored = new BackedStore({ data: second, target })
  const [late] = await restored.commitSettled([1])
  await restored.close()
  assert.deepEqual(await restoredNumbers(target), [0, 1])
  const [, base] = await listBases(target)
  rmSync(join(folder, baseObject(base as BaseName)))
  const message = new RegExp(`lacks its newest objects; .* is ${formatMicros(early as number)}$`)
  for (const at of [undefined, late])
    await assert.rejects(restoredNumbers(target, at), { name: 'BackupError', message })
  assert.deepEqual(await restoredNumbers(target, early), [0])
})

test('the error of a damaged or torn piece names the piece and the newest restorable time', async () => {
  for (const damage of ['flipped', 'torn']) {
    const { folder, target, pieces, times } = await severalPieces()
    const file = join(folder, pieces[1] as string)
    const bytes = readFileSync(file)
    if (damage === 'flipped') bytes[bytes.length - 3] = (bytes.at(-3) as number) ^ 1
    writeFileSync(file, damage === 'torn' ? bytes.subarray(0, 40) : bytes)
    const message = new RegExp(
      `${pieces[1]} .*is damaged.*; the newest restorable time .* is ${formatMicros(times[0] as number)}$`,
    )
    await assert.rejects(restoredNumbers(target), { name: 'BackupError', message })
    assert.deepEqual(await restoredNumbers(target, micros(times[0] as number)), [0, 1])
  }
})

test('a missing part of a base copy, and times outside of the backup, are rejected in one sentence', async () => {
  const { folder, target, times } = await severalPieces()
  await assert.rejects(restoredNumbers(target, micros(1)), /the oldest time that .* can restore is/)
  const late = micros((times[2] as number) + 3_600_000_000)
  await assert.rejects(restoredNumbers(target, late), /the newest time that .* can restore is/)
  rmSync(join(folder, 'parts'), { recursive: true })
  await assert.rejects(restoredNumbers(target), /is missing in the backup/)
  await assert.rejects(restoredNumbers(new FolderTarget(join(folder, 'nothing'))), /there is no backup in/)
})

test('sizes in a hostile backup are checked before anything is read or written', async () => {
  const [data, folder] = [newFolder(), newFolder()]
  const target = new FolderTarget(folder)
  const store = new BackedStore({ data, target })
  await store.commitSettled(upTo(2))
  // The base copy is complete, so a restore needs the piece of this commit.
  await store.commitSettled([2])
  await store.close()
  const namesOf = (prefix: string) => Array.fromAsync(target.list(prefix))
  const [base = ''] = await namesOf('bases/')
  const [part = ''] = await namesOf('parts/')
  const piece = (await namesOf('log/')).at(-1) ?? ''
  const hostile = async (name: string, bytes: Uint8Array, message: RegExp) => {
    const before = readFileSync(join(folder, name))
    writeFileSync(join(folder, name), bytes)
    await assert.rejects(restoredNumbers(target), { name: /BackupError$/, message })
    writeFileSync(join(folder, name), before)
  }
  const content = JSON.parse(readFileSync(join(folder, base), 'utf8'))
  const changed = (change: object) => Buffer.from(JSON.stringify({ ...content, ...change }))
  for (const change of [{ parts: 1e9 }, { parts: -1 }, { bytes: '1' }, { bytes: 1.5 }, { bytes: 1e30 }])
    await hostile(base, changed(change), /the object bases\/\S+ .* is damaged/)
  await hostile(
    base,
    changed({ parts: 1e9, bytes: 8_388_608e9 }),
    /the data needs 8388608000000000 free bytes/,
  )
  const zeros = await packObject(Buffer.alloc(8_388_609))
  await hostile(part, zeros, /the object parts\/\S+ declares 8388609 bytes, allowed are 8388608/)
  await hostile(
    piece,
    declaring(zeros, 3_200_000_000),
    /log\/\S+ declares 3200000000 bytes, allowed are 268435456/,
  )
  // The zeros need more bytes than the object declares, so decompression fails.
  await hostile(piece, declaring(zeros, 1000), /the object log\/\S+ is damaged/)
  await hostile(piece, await packObject(Buffer.alloc(99)), /a piece of the backup contains damaged records/)
  for (const name of [base, part, piece]) {
    const [file, before] = [join(folder, name), readFileSync(join(folder, name))]
    truncateSync(file, 1e9)
    await assert.rejects(restoredNumbers(target), { name: /BackupError$/, message: /has 1000000000 bytes/ })
    writeFileSync(file, before)
  }
  assert.deepEqual(await restoredNumbers(target), upTo(3))
})

/** An object whose header declares another uncompressed length. */
function declaring(object: Buffer, bytes: number): Buffer {
  const changed = Buffer.from(object)
  changed.writeUInt32LE(bytes, 16)
  changed.writeUInt32LE(crc32(changed.subarray(0, 28)), 28)
  return changed
}

test('a store that is stopped and started continues its generation; a restored one begins another', async () => {
  const [data, folder, second] = [newFolder(), newFolder(), newFolder()]
  const target = new FolderTarget(folder)
  const first = new BackedStore({ data, target })
  await first.commitSettled([0])
  const [early] = await first.commit([1])
  await first.close()
  const again = new BackedStore({ data, target })
  const [late] = await again.commitSettled([2])
  await again.close()
  assert.equal((await listBases(target)).length, 1)
  await restoreInto(target, await planRestore(target, early), second)
  const restored = new BackedStore({ data: second, target })
  const [other] = await restored.commitSettled([3])
  await restored.close()
  assert.equal((await listBases(target)).length, 2)
  assert.deepEqual(await restoredNumbers(target, late), [0, 1, 2])
  assert.deepEqual(await restoredNumbers(target, other), [0, 1, 3])
})

for (const [what, isAppending] of [
  ['whose append the disk delays', true],
  ['that waits before its append', false],
] as const)
  test(`a lease does not claim a commit ${what}`, async () => {
    const target = new FolderTarget(newFolder())
    const second = 1_000_000
    let ahead = 0
    const clock = { ...systemClock, now: () => micros(systemClock.now() + ahead) }
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
    let isSlow = false
    const disk: LogDisk = {
      ...flushedDisk,
      async write(...words) {
        if (isSlow) {
          reach()
          await released
        }
        return flushedDisk.write(...words)
      },
    }
    const store = new BackedStore({ data: newFolder(), target, disk, clock })
    await store.commitSettled([0])
    ahead = 10 * second
    const idle = clock.now()
    store.sendWatermark()
    const announcement = store.announce()
    isSlow = isAppending
    const committing = isAppending ? store.commitAt(announcement, 1) : undefined
    if (isAppending) await reached
    ahead = 24 * second
    store.sendWatermark()
    await store.shipper.stop(5_000)
    const until = (await readLease(target))?.until ?? 0
    release()
    await (committing ?? store.commitAt(announcement, 1))
    await store.close()
    assert.ok(until >= idle, 'the lease reaches the time before the commit')
    assert.ok(until < announcement.time, 'the lease does not reach the commit')
  })

test('a lease reaches the present although commits never pause', async () => {
  const target = new FolderTarget(newFolder())
  const store = new BackedStore({ data: newFolder(), target })
  await store.commitSettled([0])
  let waiting = store.announce()
  for (let number = 1; number <= 20; number++) {
    const next = store.announce()
    await store.commitAt(waiting, number)
    waiting = next
    store.sendWatermark()
  }
  const present = waiting.time
  await store.shipper.stop(5_000)
  assert.equal((await readLease(target))?.until, present - 1)
  await store.commitAt(waiting, 21)
  await store.close()
})

test('the backup of another store is rejected, and the target stays as it is', async () => {
  const target = new FolderTarget(newFolder())
  const own = new BackedStore({ data: newFolder(), target })
  await own.commitSettled([0])
  await own.close()
  const stranger = new BackedStore({ data: newFolder(), target })
  await stranger.commit([7])
  await eventually('the other store is rejected', () =>
    /contains the backup of another store/.test(stranger.status?.reason ?? ''),
  )
  await stranger.close()
  assert.deepEqual(await restoredNumbers(target), [0])
})

test('records beyond the limit are dropped, and a new base copy follows when the target works again', async () => {
  const folder = newFolder()
  const inner = new FolderTarget(folder)
  let isBroken = false
  const target = withMethods(inner, {
    put: async (name, bytes) => {
      if (isBroken) throw new BackupError('the target is away')
      await inner.put(name, bytes)
    },
  })
  // A base copy may fail while the target is broken, and is tried again after a minute.
  const clock = { ...systemClock, elapsedMs: () => 100 * systemClock.elapsedMs() }
  const store = new BackedStore({ data: newFolder(), target, waitingBytesMax: 2_000, clock })
  await store.commitSettled([0])
  const [early] = await store.commitSettled([1])
  isBroken = true
  // On a slow machine, many records are compressed together, so they take less memory.
  let next = 2
  while (store.status?.dropped_bytes === 0) await store.commit([next++])
  isBroken = false
  await eventually('a base copy follows the gap', async () => (await listBases(inner)).length > 1)
  await eventually('nothing waits', () => store.status?.waiting_bytes === 0)
  const [late] = await store.commitSettled([next])
  await store.close()
  assert.deepEqual(await restoredNumbers(inner, early), [0, 1])
  assert.deepEqual(await restoredNumbers(inner, late), upTo(next + 1))
})

test('a deleted piece, base copy or part is replaced by a new base copy while the service runs', async () => {
  for (const kind of ['log', 'bases', 'parts']) {
    const [data, folder] = [newFolder(), newFolder()]
    const target = new FolderTarget(folder)
    const store = new BackedStore({ data, target, maintainEveryMs: 0 })
    for (const number of [0, 1, 2]) await store.commitSettled([number])
    const names = await Array.fromAsync(target.list(`${kind}/`))
    const missing = kind === 'log' ? names.at(-2) : names.at(-1)
    rmSync(join(folder, missing as string))
    let numbers: number[] = []
    await eventually('the newest state can be restored again', async () => {
      await store.commit([3])
      numbers = await restoredNumbers(target).catch(() => [])
      return numbers.length === 4
    })
    assert.deepEqual(numbers, upTo(4), kind)
    await store.close()
  }
})
