// The CPU time that the benchmark reports: of all processes of a server, running or exited.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { processorSeconds } from '../../bench/processor-time.ts'

const skip = existsSync('/proc/self/stat') ? false : 'the system has no /proc'

/** CPU milliseconds that a child process uses. */
const burntMs = 300
/** At least this many seconds are found: the kernel counts in ticks of 10 ms. */
const foundMin = 0.2

const burn = `while (process.cpuUsage().user < ${burntMs * 1000});`

test('the CPU time of exited children counts', { skip }, () => {
  const before = processorSeconds([process.pid])
  spawnSync(process.execPath, ['-e', burn])
  assert.ok(processorSeconds([process.pid]) - before >= foundMin)
})

test('the CPU time of descendants counts, and that of other processes does not', { skip }, async () => {
  const inner = `${burn} console.log('burnt'); setInterval(() => {}, 1000)`
  const outer = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], { stdio: 'inherit' })`
  const child = spawn(process.execPath, ['-e', outer], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const pid = child.pid as number
  try {
    await once(child.stdout, 'data')
    assert.ok(processorSeconds([pid]) >= foundMin)
    assert.equal(processorSeconds([]), 0)
  } finally {
    // The group contains the grandchild.
    process.kill(-pid, 'SIGKILL')
  }
})
