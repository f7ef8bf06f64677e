// Waits for a condition that another process or a running request makes true.

import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { patience } from './patience.ts'

const lookEveryMs = 20

/**
 * Waits until `look` returns true. Fails after a minute (on a busy machine, after a longer time) with a description of
 * the condition.
 */
export async function eventually(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patience(60_000)
  while (!(await look())) {
    assert.ok(Date.now() < deadline, `timed out waiting until ${what}`)
    await setTimeout(lookEveryMs)
  }
}
