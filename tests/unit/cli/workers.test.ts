// The supervision of workers, with workers that are not processes.

import assert from 'node:assert/strict'
import cluster, { type Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../../../src/base/clock.ts'
import type { Timers } from '../../../src/base/timers.ts'
import { Supervisor } from '../../../src/cli/workers.ts'
import { openServiceLog } from '../../../src/server/service-log.ts'

/** A worker that serves from the next turn until it exits or is killed. */
class FakeWorker extends EventEmitter {
  readonly process = { kill: (signal: string) => this.exit(null, signal) }
  #isDead = false

  constructor() {
    super()
    setImmediate(() => this.emit('message', 'free'))
  }

  exit(code: number | null, signal: string | null = null): void {
    if (this.#isDead) return
    this.#isDead = true
    this.emit('exit', code, signal)
  }

  isDead(): boolean {
    return this.#isDead
  }
}

test('a worker whose delay ends during a rebuild of the replica restarts after the rebuild', async t => {
  const workers: FakeWorker[] = []
  t.mock.method(cluster, 'fork', () => workers[workers.push(new FakeWorker()) - 1] as unknown as Worker)
  const delays: (() => void)[] = []
  const timers: Timers = {
    after(_, callback) {
      delays.push(callback)
      return () => undefined
    },
    every: () => () => undefined,
  }
  const rebuilt = Promise.withResolvers<void>()
  const supervisor = new Supervisor({
    count: 2,
    stopNoticeMs: 0,
    graceMs: 0,
    identity: () => 'directory',
    log: openServiceLog('silent'),
    timers,
    clock: systemClock,
    rebuild: { divergedStatus: 3, prepare: () => rebuilt.promise },
  })
  t.after(() => supervisor.stop())
  assert.equal(await supervisor.start(), true)
  workers[0]?.exit(1)
  await nextTurn()
  workers[1]?.exit(3)
  await nextTurn()
  assert.equal(delays.length, 1)
  delays[0]?.()
  await nextTurn()
  assert.equal(workers.length, 2)
  rebuilt.resolve()
  await nextTurn()
  assert.equal(workers.length, 4)
})
