// Nodes within the process of a test: stores over a record, without servers.

import { systemRandom } from '../../src/base/random.ts'
import type { PostgresStore } from '../../src/storage/postgres/postgres.ts'
import { PostgresSession, type RecordLocation } from '../../src/storage/postgres/postgres-session.ts'
import { openTables } from '../../src/storage/postgres/tables.ts'
import { lastCommit } from '../../src/storage/store/last-commit.ts'
import { Store } from '../../src/storage/store/store.ts'
import { PostgresServer } from '../support/postgres.ts'
import { openTestNode } from '../support/record.ts'
import { serviceOfFile } from '../support/service-of-file.ts'

/** A node's replica, with the store over it. */
export interface NodeStore {
  readonly kv: PostgresStore
  readonly store: Store
}

/** A new record with two nodes, and a session to it. */
export interface NodePair extends AsyncDisposable {
  readonly location: RecordLocation
  readonly session: PostgresSession
  readonly a: NodeStore
  readonly b: NodeStore
}

let schemas = 0

export async function openPair(server: PostgresServer): Promise<NodePair> {
  const location = { url: server.url(), schema: `in_process_${++schemas}` }
  const session = await PostgresSession.open(location, 'tests')
  await openTables(session, systemRandom)
  const a = await openNode(location, 'a', 1)
  const b = await openNode(location, 'b', 2)
  const close = async () => {
    session.close()
    await a.store.close()
    await b.store.close()
  }
  return { location, session, a, b, [Symbol.asyncDispose]: close }
}

/** Opens a node over a record; `worker` distinguishes its ids from those of other nodes. */
async function openNode(location: RecordLocation, node: string, worker: number): Promise<NodeStore> {
  const kv = await openTestNode(location, { node, newestTime: view => lastCommit(view).time })
  const hooks = { evaluateBinding: () => undefined }
  return { kv, store: new Store(kv, { clock: () => kv.now(), timeline: kv.timeline, hooks, worker }) }
}

/** Two nodes over a server of their own, for all tests of a suite. */
export function pairOfFile(): NodePair {
  return serviceOfFile(async () => {
    const server = await PostgresServer.start()
    const pair = await openPair(server)
    const stop = async () => {
      await pair[Symbol.asyncDispose]()
      await server.stop()
    }
    return { ...pair, stop }
  })
}
