// Rewinds a collection with the code of `terrarium rewind`.

import { micros } from '../../../src/base/micros.ts'
import { type RewindCounts, runRewind } from '../../../src/transfer/rewinder.ts'
import { scope } from '../session.ts'
import { transferConnection } from './transfer-connection.ts'

/** A collection, and the time to which the collection is rewound. */
export interface RewindTarget {
  readonly collection: string
  /** In microseconds. */
  readonly time: bigint
}

/** The number of documents by outcome. */
export type { RewindCounts }

/** Documents per transaction, as in the command. */
const batch = 500

/**
 * Restores the documents of a collection to a time, or with `dryRun` only counts the changes. `progress` changes while
 * the rewind runs. Throws `TransferError`, `QueryError`, `ServiceError`, or an AbortError.
 */
export function rewindCollection(
  { collection, time }: RewindTarget,
  dryRun: boolean,
  progress: { documents: number },
  signal: AbortSignal,
): Promise<RewindCounts> {
  const options = { database: [], collection, to: micros(Number(time)), batch, dryRun }
  return runRewind(transferConnection(scope.value, signal), options, progress)
}
