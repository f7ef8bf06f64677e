// Waits for a condition that another process or a running request makes true.

import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { patience } from './patience.ts'

const pollEveryMs = 20

/** Fails after a minute (longer on a busy machine) with `what`, a description of the condition. */
export async function eventually(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patience(60_000)
  while (!(await look())) {
    assert.ok(Date.now() < deadline, `timed out waiting until ${what}`)
    await setTimeout(pollEveryMs)
  }
}
