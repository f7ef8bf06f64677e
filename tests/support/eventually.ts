// Waits for a condition that another process or a running request makes true.

import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { patience } from './patience.ts'

const pollEveryMs = 20
const idleMs = 60_000

/** Fails with `what`, a description of the condition, when {@link patience} for a minute is over. */
export async function eventually(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  const began = performance.now()
  while (!(await look())) {
    // Computed each time, because the machine may become busy during the wait.
    assert.ok(performance.now() - began < patience(idleMs), `timed out waiting until ${what}`)
    await setTimeout(pollEveryMs)
  }
}
