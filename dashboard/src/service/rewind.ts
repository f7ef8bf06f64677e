// Rewinds a collection with the code of `terrarium rewind`.

import { micros } from '../../../src/base/micros.ts'
import { type RewindCounts, runRewind } from '../../../src/transfer/rewinder.ts'
import { currentSecret } from '../session.ts'
import { transferConnection } from './transfer-connection.ts'

/** The collection is rewound to `time`. */
export interface RewindTarget {
  readonly collection: string
  /** Microseconds. */
  readonly time: bigint
}

export type { RewindCounts }

/** Documents per transaction, as in the command. */
const batch = 500

/**
 * Rewinds a collection, or only counts the changes if `dryRun` is true. `progress` changes while the rewind runs.
 * Throws `TransferError`, `QueryError`, `ServiceError`, or an AbortError.
 */
export function rewindCollection(
  { collection, time }: RewindTarget,
  dryRun: boolean,
  progress: { documents: number },
  signal: AbortSignal,
): Promise<RewindCounts> {
  const options = { database: [], collection, to: micros(Number(time)), batch, dryRun }
  return runRewind(transferConnection(currentSecret.value, signal), options, progress)
}
