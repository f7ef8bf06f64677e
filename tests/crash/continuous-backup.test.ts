// The process that writes the continuous backup is killed at random moments. Then the service is killed and its data
// directory destroyed, under load. Each moment that can be restored has exactly the writes up to it. A killed process
// is replaced after five seconds, which makes this file slow.

import assert from 'node:assert/strict'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { planRestore } from '../../src/backup/catalogue.ts'
import { openTarget } from '../../src/backup/open-target.ts'
import { restoreInto } from '../../src/backup/restore.ts'
import { readStatus } from '../../src/backup/status-file.ts'
import type { BackupTarget } from '../../src/backup/target.ts'
import { micros } from '../../src/base/micros.ts'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { fql, sendFql } from '../support/http.ts'
import { RandomSource } from '../support/seeded.ts'
import { startServer } from '../support/server.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'

const momentsWanted = 20
const kills = 4
const writers = 8

const folder = folderOfFile()

/** An acknowledged write: its number, and the time of its transaction. */
type Acknowledged = readonly [number: number, time: number]

/** Writes until `hasEnded` says so or the service is gone; the acknowledged writes. */
async function write(server: ServerProcess, hasEnded: () => boolean): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = []
  let next = 0
  const one = async () => {
    while (!hasEnded()) {
      const number = next++
      try {
        const { json, status } = await sendFql(server, server.rootSecret, `items.create({ n: ${number} }).n`)
        if (status === 200) acknowledged.push([number, (json as { txn_ts: number }).txn_ts])
      } catch {
        return
      }
    }
  }
  await Promise.all(Array.from({ length: writers }, one))
  return acknowledged
}

/** The numbers in the restored state at `time`; undefined when the backup does not contain this state. */
async function numbersAt(target: BackupTarget, time: number): Promise<Set<number> | undefined> {
  const data = join(folder, 'restored')
  await rm(data, { recursive: true, force: true })
  await mkdir(data)
  try {
    await restoreInto(target, await planRestore(target, micros(time)), data)
  } catch (error) {
    const missing = /has a gap|the newest restorable time|the newest time that|the oldest time that/
    if (missing.test((error as Error).message)) return undefined
    throw error
  }
  await using server = await startServer({ data })
  const numbers = new Set<number>()
  let text = 'items.all().map(.n).paginate(16000)'
  for (;;) {
    const { json } = await sendFql(server, server.rootSecret, text)
    // The first base copy may be older than the collection.
    if ((json as { error?: { code: string } }).error?.code === 'unbound_variable') return numbers
    const page = (json as { data: { data: number[]; after?: string } }).data
    for (const number of page.data) numbers.add(number)
    if (page.after === undefined) return numbers
    text = `Set.paginate("${page.after}", 16000)`
  }
}

test('each restorable moment has exactly the writes up to it', async () => {
  const source = new RandomSource(43)
  const address = join(folder, 'backup')
  const data = join(folder, 'data')
  const server = await startProcess({ data, flags: ['--backup-to', address] })
  await fql(server, server.rootSecret, 'Collection.create({ name: "items" })')
  const status = () => readStatus(data)
  let hasEnded = false
  const writing = write(server, () => hasEnded)
  let killedAt = 0
  for (let kill = 0; kill < kills; kill++) {
    const before = status()?.pid
    await eventually('the process has reported', () => status()?.pid !== undefined)
    await pause(source.below(1_500))
    const pid = status()?.pid as number
    killedAt = Date.now()
    process.kill(pid, 'SIGKILL')
    await eventually('another process writes', () => status()?.pid !== pid && status()?.pid !== before)
  }
  await eventually('the last process has a base copy', () => {
    const { newest_restorable: newest = null, state } = status() ?? {}
    return state === 'running' && newest !== null && newest / 1000 > killedAt
  })
  await pause(2_000)
  await server.kill()
  hasEnded = true
  await rm(data, { recursive: true, force: true })
  const acknowledged = await writing
  const target = await openTarget(address)
  const plan = await planRestore(target)
  const [first, last] = [plan.base.from, plan.pieces.at(-1)?.time ?? plan.base.time]
  let restored = 0
  const times = Array.from({ length: momentsWanted }, () => first + source.below(last - first + 1))
  // Earlier ones may lie in a gap that a killed process has left.
  const earliest = Math.min(...acknowledged.map(([, time]) => time))
  for (let extra = 0; extra < 5; extra++) times.push(earliest + source.below(last - earliest))
  for (const time of [...times, last]) {
    const numbers = await numbersAt(target, time)
    if (numbers === undefined) {
      assert.ok(time < first, 'the newest generation has no gap')
      continue
    }
    restored++
    for (const [number, at] of acknowledged)
      assert.equal(numbers.has(number), at <= time, `${number} at ${time}`)
  }
  assert.ok(restored > momentsWanted)
})
