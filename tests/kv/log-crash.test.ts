// kill -9 of a process that commits to a log, at an operation of each phase: nothing acknowledged is lost, no transaction is
// there in part, and the log has no gap. Other processes read meanwhile. `npm run test:soak` kills 2400 times. The
// file takes more than 20 seconds because each kill needs a process of its own.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { openFollower } from '../../src/storage/log/follower.ts'
import { openLogged } from '../../src/storage/log/logged-store.ts'
import { copyStore } from '../../src/storage/log/store-copy.ts'
import { folderOfFile } from '../support/folder.ts'
import { environmentFor, type KillPlan, type Phase } from '../support/kill-plan.ts'
import { RandomSource, seedsToRun } from '../support/seeded.ts'
import { newestWhole } from './log-rows.ts'

const folder = folderOfFile()

/** Number of kills in a directory. */
const kills = 12
/** Numbers after which a process is killed if it has not reached its operation. */
const numbersMax = 1500

/** The phases, and how many of their operations can be the last one. */
const phases: readonly (readonly [Phase, number])[] = [
  ['append', 150],
  ['flush', 150],
  ['acknowledge', 150],
  ['rotate', 20],
  ['recycle', 8],
  ['apply', 10],
  ['replay', 8],
]

function drawPlan(source: RandomSource, marker: string): KillPlan {
  const [phase, operations] = source.pick(phases)
  const share = source.pick([0, source.below(1000) / 1000, 1])
  return { victim: 'committer', phase, operation: source.below(operations), share, marker }
}

interface WriterOptions {
  readonly first: number
  readonly applyMs: number
  readonly plan?: KillPlan
}

/** Starts a process that commits from a number on; `acknowledged` is called with each number that it has acknowledged. */
function startWriter(
  path: string,
  { applyMs, first, plan }: WriterOptions,
  acknowledged: (number: number) => void,
) {
  const words = [join(import.meta.dirname, 'log-child.ts'), path, String(first), String(applyMs)]
  if (plan?.phase === 'acknowledge') words.push('followed')
  const env = { ...process.env, ...(plan && environmentFor(plan)) }
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], env })
  const lines = createInterface({ input: child.stdout })
  lines.on('line', line => acknowledged(Number(line)))
  const closed = Promise.all([once(child, 'close'), once(lines, 'close')])
  return { child, closed }
}

/** Runs a writer until it is killed; resolves with the newest acknowledged number. */
async function writeUntilKilled(path: string, options: WriterOptions): Promise<number> {
  let newest = options.first - 1
  const { child, closed } = startWriter(path, options, number => {
    newest = Math.max(newest, number)
    if (number > options.first + numbersMax) child.kill('SIGKILL')
  })
  await closed
  assert.equal(child.signalCode, 'SIGKILL')
  return newest
}

for (const seed of seedsToRun([31, 32, 33])) {
  test(`kill -9 loses no acknowledged transaction (seed ${seed})`, async context => {
    const source = new RandomSource(seed)
    const path = join(folder, `killed ${seed}`)
    const reached = new Map<Phase, number>()
    let next = 0
    let acknowledged = -1
    for (let cycle = 0; cycle < kills; cycle++) {
      const plan = drawPlan(source, join(folder, `${seed} ${cycle}`))
      const applyMs = source.below(3) * 15 + 1
      acknowledged = Math.max(acknowledged, await writeUntilKilled(path, { first: next, applyMs, plan }))
      if (existsSync(plan.marker)) reached.set(plan.phase, (reached.get(plan.phase) ?? 0) + 1)
      if (!existsSync(join(path, 'data.mdb'))) continue
      const reading = openFollower({ path })
      next = newestWhole(reading) + 1
      await reading.close()
      assert.ok(next > acknowledged, `${next - 1} is stored, ${acknowledged} was acknowledged`)
      // Otherwise the next process replays the log of this one.
      if (source.below(2) === 0) continue
      const store = openLogged({ path, segmentBytes: 32_768 })
      assert.equal(newestWhole(store), next - 1)
      await store.close()
    }
    const counts = [...reached].map(([phase, count]) => `${phase} ${count}`).join(', ')
    context.diagnostic(`killed while: ${counts}`)
    assert.ok(reached.size > 2, counts)
  })
}

test('readers and backups see complete transactions, including all acknowledged ones', async () => {
  const path = join(folder, 'read')
  let newest = -1
  const { child, closed } = startWriter(path, { first: 0, applyMs: 10 }, number => {
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
