// The record as a key-value store of its own, as of one batch: for backups, for the way back into a data directory, and to
// compare a node's copy with.

import { mergeJoin } from '../../../base/merge-join.ts'
import { type Bytes, type Entry, everyKey, type KeyValueStore, type View } from '../contract.ts'
import { StoreUnavailableError } from '../errors.ts'
import { redoLog } from './catch-up.ts'
import { type CopyProgress, copyState } from './copy-state.ts'
import { noteIn, ReplicaView } from './replica.ts'
import { PostgresSession, type RecordLocation } from './session.ts'

/**
 * Copies the state of the record as of now into `local`, which is empty or a copy that was interrupted; resolves with the
 * batch that it ends with.
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

/** A key under which two stores differ, and which of them holds it. */
export interface Difference {
  readonly key: Bytes
  readonly in: 'copy' | 'record' | 'both'
}

/** What a comparison found. */
interface Comparison {
  /** The batch as of which both were compared. */
  readonly seq: number
  /** At most {@link differencesMax}. */
  readonly differences: readonly Difference[]
}

/** Differences that a comparison reports. */
export const differencesMax = 100
/** How often both are brought to the same batch at most; a node that serves moves its copy on meanwhile. */
const attemptsMax = 1_000

/** Compares a node's copy with the record, of which `record` is a copy that no other process writes to. */
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
  throw new StoreUnavailableError('the copy changes too fast to be compared')
}

/** Undefined when the two are not at the same batch. */
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
