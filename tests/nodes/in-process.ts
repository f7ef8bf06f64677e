// Nodes within the process of a test: stores over a record, without servers.

import assert from 'node:assert/strict'
import { systemClock } from '../../src/base/clock.ts'
import { systemRandom } from '../../src/base/random.ts'
import { systemTimers } from '../../src/base/timers.ts'
import { openPostgres, type PostgresStore } from '../../src/storage/postgres/postgres.ts'
import { PostgresSession, type RecordLocation } from '../../src/storage/postgres/postgres-session.ts'
import { openTables } from '../../src/storage/postgres/tables.ts'
import { lastCommit } from '../../src/storage/store/last-commit.ts'
import { Store } from '../../src/storage/store/store.ts'
import type { PostgresServer } from '../support/postgres.ts'
import { copyOf } from '../support/record-copy.ts'

/** A node's replica, with the store over it. */
export interface NodeStore {
  readonly kv: PostgresStore
  readonly store: Store
}

let schemas = 0

export async function newRecord(
  server: PostgresServer,
): Promise<{ readonly location: RecordLocation; readonly session: PostgresSession }> {
  const location = { url: server.url(), schema: `in_process_${++schemas}` }
  const session = await PostgresSession.open(location, 'tests')
  await openTables(session, systemRandom)
  return { location, session }
}

/** Opens a node over a record; `worker` distinguishes its ids from those of other nodes. */
export async function openNode(location: RecordLocation, name: string, worker: number): Promise<NodeStore> {
  const kv = await openPostgres({
    location,
    local: await copyOf(location),
    node: name,
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    newestTime: view => lastCommit(view).time,
    onDiverged: reason => assert.fail(reason),
  })
  const hooks = { evaluateBinding: () => undefined }
  return { kv, store: new Store(kv, { clock: () => kv.now(), timeline: kv.timeline, hooks, worker }) }
}
