// Copies the record as of one batch into a key-value store: for backups, for the move back into a data directory, and
// for comparisons with a node's replica.

import { mergeJoin } from '../../../base/merge-join.ts'
import { type Bytes, type Entry, everyKey, type KeyValueStore, type View } from '../contract.ts'
import { StoreUnavailableError } from '../errors.ts'
import { redoLog } from './catch-up.ts'
import { type CopyProgress, copyState } from './copy-state.ts'
import { noteIn, ReplicaView } from './replica.ts'
import { PostgresSession, type RecordLocation } from './session.ts'

/**
 * Copies the present state of the record into `local`, which is empty or contains an interrupted copy; resolves with
 * the batch of the copy.
 */
export function copyRecord(
  location: RecordLocation,
  local: KeyValueStore,
  node: string,
  onProgress: (progress: CopyProgress) => void,
): Promise<number> {
  return PostgresSession.use(location, node, async session => {
    await copyState(session, local, node, onProgress)
    return redoLog(session, local)
  })
}

/** A key with different values in two stores, and the stores that contain the key. */
export interface Difference {
  readonly key: Bytes
  readonly in: 'copy' | 'record' | 'both'
}

/** The result of a comparison. */
interface Comparison {
  /** The number of the batch at which both stores were compared. */
  readonly seq: number
  /** At most {@link differencesMax} differences. */
  readonly differences: readonly Difference[]
}

/** Maximum number of differences that a comparison reports. */
export const differencesMax = 100
/**
 * Maximum number of attempts to bring both stores to the same batch. A running node advances its replica during the
 * comparison.
 */
const attemptsMax = 1_000

/** Compares a node's replica with the record. `record` is a copy of the record that no other process writes to. */
export async function compareCopy(
  session: PostgresSession,
  record: KeyValueStore,
  copy: KeyValueStore,
): Promise<Comparison> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    await redoLog(session, copy)
    await redoLog(session, record)
    const found = record.read(expected => copy.read(actual => compareAt(expected, actual)))
    if (found) return found
  }
  throw new StoreUnavailableError('the replica changes too fast to be compared')
}

/** Undefined when the two stores are at different batches. */
function compareAt(expected: View, actual: View): Comparison | undefined {
  const seq = noteIn(actual)?.seq
  if (seq === undefined || noteIn(expected)?.seq !== seq) return undefined
  return { seq, differences: differencesOf(new ReplicaView(expected), new ReplicaView(actual)) }
}

function differencesOf(expected: View, actual: View): Difference[] {
  const found: Difference[] = []
  const byKey = (left: Entry, right: Entry) => Buffer.compare(left.key, right.key)
  for (const [record, copy] of mergeJoin(expected.range(everyKey), actual.range(everyKey), byKey)) {
    if (found.length === differencesMax) break
    if (copy === undefined) found.push({ key: (record as Entry).key, in: 'record' })
    else if (record === undefined) found.push({ key: copy.key, in: 'copy' })
    else if (Buffer.compare(record.value, copy.value) !== 0) found.push({ key: record.key, in: 'both' })
  }
  return found
}
