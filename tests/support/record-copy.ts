// Copies a record to a replica in memory, in the same way as a node does.

import { systemRandom } from '../../src/base/random.ts'
import type { KeyValueStore } from '../../src/storage/kv/kv-contract.ts'
import { openMemory } from '../../src/storage/kv/memory.ts'
import { copyState } from '../../src/storage/postgres/copy-state.ts'
import { PostgresSession, type RecordLocation } from '../../src/storage/postgres/postgres-session.ts'
import { openTables } from '../../src/storage/postgres/tables.ts'

/** Creates the tables of the record if they are missing. */
export async function copyOf(location: RecordLocation): Promise<KeyValueStore> {
  const local = openMemory()
  const session = await PostgresSession.open(location, 'copy')
  await openTables(session, systemRandom)
  await copyState(session, local, 'copy', () => undefined)
  session.close()
  return local
}
