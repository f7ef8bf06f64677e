// A store whose reads may lag behind commits of other nodes, such as the store of a node over PostgreSQL.

import type { KeyValueStore, Write } from './kv-contract.ts'

/** A batch of commits of another node. Its writes become visible together. */
export interface ForeignBatch {
  /** The time of the newest commit before these writes, in microseconds. */
  readonly after: number
  /**
   * Writes in the order of commits. The caller must copy bytes that it retains, because they are views of a larger
   * buffer.
   */
  readonly writes: readonly Write[]
}

export interface ReadyOptions {
  /** The snapshot must also have a later time than `notBefore`. */
  readonly isLater?: boolean
}

export interface ReplicatedStore extends KeyValueStore {
  /**
   * Waits until every new snapshot contains all commits up to `notBefore` (microseconds; Infinity: all commits of all
   * nodes before the call) and has a time close to the present time. Returns undefined if no wait is needed. If
   * `isLater` is true and the shared database is available, the time of the snapshot is also later than `notBefore`.
   * Rejects with `StoreUnavailableError` if commits are missing and the shared database is unavailable.
   */
  ready(notBefore: number, options?: ReadyOptions): Promise<void> | undefined
  /**
   * Calls `listener` with each batch of other nodes in order, soon after the batch has become visible. Batches that
   * another process has applied to the same replica are not reported.
   */
  watchForeign(listener: (batch: ForeignBatch) => void): void
}

export function isReplicated(kv: KeyValueStore): kv is ReplicatedStore {
  return 'ready' in kv
}

/** Waits until reads see all commits of all nodes. Rejects with `StoreUnavailableError` if this fails. */
export async function waitUntilCurrent(kv: KeyValueStore): Promise<void> {
  if (isReplicated(kv)) await kv.ready(Number.POSITIVE_INFINITY)
}
