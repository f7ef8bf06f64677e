// The interface of a store whose reads may lag behind commits of other machines, such as a node over PostgreSQL. The
// interface adds operations to the interface of all key-value stores (kv-contract.ts).

import type { KeyValueStore, Write } from './kv-contract.ts'

/** Writes of other processes that have become visible together. */
export interface ForeignBatch {
  /** The time of the newest commit before these writes, in microseconds. */
  readonly after: number
  /**
   * The writes of several transactions, in the order of commits. The caller must copy bytes that it retains, because
   * the bytes are views of a larger buffer.
   */
  readonly writes: readonly Write[]
}

export interface ReplicatedStore extends KeyValueStore {
  /**
   * Waits until every new snapshot contains all commits up to `notBefore` (microseconds) and has a time close to the
   * present time. Returns undefined if no wait is needed. If `notBefore` is Infinity, the snapshot contains all commits
   * of all machines before the call. If `isLater` is true and the shared database is available, the time of the
   * snapshot is also later than `notBefore`. Rejects with `StoreUnavailableError` if commits are missing and the shared
   * database is unavailable.
   */
  ready(notBefore: number, isLater?: boolean): Promise<void> | undefined
  /**
   * Calls `listener` with each batch of other machines in order, soon after the batch has become visible. Batches that
   * another process has applied to the same replica are not reported.
   */
  watchForeign(listener: (batch: ForeignBatch) => void): void
}

/** Returns whether reads of a store may lag behind commits of other machines. */
export function isReplicated(kv: KeyValueStore): kv is ReplicatedStore {
  return 'ready' in kv
}

/**
 * Waits until reads of `kv` see all commits of all machines. Rejects with `StoreUnavailableError` if the commits cannot
 * be fetched.
 */
export async function caughtUp(kv: KeyValueStore): Promise<void> {
  if (isReplicated(kv)) await kv.ready(Number.POSITIVE_INFINITY)
}
