// kill -9 of a process that commits to a log, whatever it does at that moment: nothing acknowledged is lost, and no half of a
// transaction is there. Other processes read meanwhile.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { copyStore } from '../../src/storage/kv/lmdb-copy.ts'
import { openFollower } from '../../src/storage/kv/log/follower.ts'
import { openLogged } from '../../src/storage/kv/log/logged-store.ts'
import { RandomSource, seedsToRun } from '../support/seeded.ts'
import { newestWhole } from './log-rows.ts'

const folder = mkdtempSync(join(tmpdir(), 'log-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** How often a process is killed; a soak asks for more. */
const cycles = Number(process.env.TERRARIUM_KILL_CYCLES ?? 6)

/** Starts a process that commits from a number on; `acknowledged` is called with each number that it has told. */
function startWriter(path: string, first: number, applyMs: number, acknowledged: (number: number) => void) {
  const words = [join(import.meta.dirname, 'log-child.ts'), path, String(first), String(applyMs)]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  lines.on('line', line => acknowledged(Number(line)))
  const closed = Promise.all([once(child, 'close'), once(lines, 'close')])
  return { child, closed }
}

/** Resolves when that many transactions have been acknowledged, then kills the writer. */
async function killAfter(path: string, first: number, count: number, applyMs: number): Promise<number> {
  let newest = first - 1
  let heard = 0
  const { child, closed } = startWriter(path, first, applyMs, number => {
    newest = Math.max(newest, number)
    if (++heard === count) child.kill('SIGKILL')
  })
  await closed
  assert.equal(child.signalCode, 'SIGKILL')
  return newest
}

for (const seed of seedsToRun([31])) {
  test(`what was acknowledged before kill -9 is there after it (seed ${seed})`, async () => {
    const source = new RandomSource(seed)
    const draw = (limit: number) => source.below(limit)
    const path = join(folder, `killed ${seed}`)
    let next = 0
    for (let cycle = 0; cycle < cycles; cycle++) {
      const acknowledged = await killAfter(path, next, 1 + draw(600), draw(3) * 15 + 1)
      // Every second time the next process replays what the one before it has left, without a look in between.
      if (cycle % 2 === 0) {
        const reading = openFollower({ path })
        assert.ok(newestWhole(reading) >= acknowledged)
        await reading.close()
      }
      const store = openLogged({ path, segmentBytes: 32_768 })
      const newest = newestWhole(store)
      assert.ok(newest >= acknowledged, `${newest} is there, ${acknowledged} was acknowledged`)
      next = newest + 1
      await store.close()
    }
  })
}

test('processes that read see whole transactions, and all that was acknowledged; so do backups', async () => {
  const path = join(folder, 'read')
  let newest = -1
  const { child, closed } = startWriter(path, 0, 10, number => {
    newest = Math.max(newest, number)
  })
  await new Promise<void>(resolve => {
    child.stdout?.once('data', () => resolve())
  })
  const reading = openFollower({ path })
  for (let round = 0; round < 40; round++) {
    const before = newest
    assert.ok(newestWhole(reading) >= before)
    await new Promise(setImmediate)
  }
  for (let round = 0; round < 3; round++) {
    const before = newest
    const to = mkdtempSync(join(folder, 'backup-'))
    await copyStore(path, to)
    const copy = openFollower({ path: to })
    assert.ok(newestWhole(copy) >= before)
    await copy.close()
  }
  child.kill('SIGKILL')
  await closed
  await reading.close()
})
