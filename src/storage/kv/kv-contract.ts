// The storage contract: ordered bytes with snapshots and atomic, durable commits. The contract is independent of
// documents. Every engine (memory, LMDB, …) passes the same suite in tests/kv.

/**
 * Keys are ordered by their bytes as unsigned numbers, and a prefix of a key sorts before the key. Stored keys have 1
 * to {@link keyBytesMax} bytes. The bounds of a range may have any length.
 */
export type Bytes = Uint8Array

/** Every engine must be able to store keys of this length. */
export const keyBytesMax = 1900

/** `start` is inclusive, `end` exclusive. */
export interface KeyRange {
  readonly start: Bytes
  readonly end: Bytes
  /** True for the descending order of keys. */
  readonly reverse?: boolean
  /** Maximum number of rows. The default is unlimited. */
  readonly limit?: number
}

/** All keys that can be stored. */
export const everyKey: Pick<KeyRange, 'start' | 'end'> = {
  start: new Uint8Array(0),
  end: new Uint8Array(keyBytesMax + 1).fill(0xff),
}

/** A row. */
export interface Entry {
  readonly key: Bytes
  readonly value: Bytes
}

/** Reads one consistent state. Returned arrays belong to the caller and stay valid after the view has ended. */
export interface View {
  /** Returns `cached` itself, without a copy, if the stored value has the same bytes. */
  get(key: Bytes, cached?: Bytes): Bytes | undefined
  /** Reads rows while the caller iterates, and may stop early. The data must not change during the iteration. */
  range(range: KeyRange): Iterable<Entry>
  /** Views of the same store with the same number have the same rows. Absent if the engine has no such number. */
  readonly state?: number | undefined
  /**
   * Adds a key without a row and an empty range to the read set, without reading the store. The caller knows already
   * that both are empty. Example: a new document id is unused if the document has neither a row of its current version
   * (`key`) nor rows of its history (`range`). A concurrent commit of either makes the read set invalid. Absent if the
   * view records no reads.
   */
  recordAbsence?(key: Bytes, range: Pick<KeyRange, 'start' | 'end'>): void
}

/** If `value` is undefined, the key is deleted. */
export interface Write {
  readonly key: Bytes
  readonly value: Bytes | undefined
}

/** The result of a transaction function, and the changes to apply. Without changes, nothing is committed. */
export interface Work<T> {
  readonly result: T
  readonly writes: readonly Write[]
  /**
   * Further writes of a large transaction, whose `writes` are not empty. Between two pieces, an engine may let the
   * process do other work, but runs no other transaction.
   */
  readonly pieces?: EncodedWrites
}

/** Encoded parts of a batch (`batch.ts`). The iteration creates one part at a time. */
export interface EncodedWrites extends Iterable<Bytes> {
  /** An upper bound of the number of writes. */
  readonly rowsMax: number
  /** An upper bound of the bytes of all parts. */
  readonly bytesMax: number
}

export interface KeyValueStore {
  /**
   * Runs `read` synchronously on a snapshot, which contains all earlier commits of all processes that share the store.
   * A read inside another read uses the same snapshot. A read inside a transaction throws.
   */
  read<T>(read: (view: View) => T): T
  /**
   * Runs `work` on the newest state, and applies its writes atomically; transactions are strictly serializable. `work`
   * runs under the writer's lock, which only one process can hold. All other writers wait for `work`, so it must be
   * short. Usually `work` validates a transaction that was evaluated before the call (an attempt; see
   * storage/store/attempt.ts), and returns its writes. Waiting transactions may share one lock and one flush; each of
   * them reads the writes of the preceding ones. `work` is synchronous and may run more than once; only the writes of
   * the last run are applied. If `work` throws, the promise rejects and nothing is written. The promise resolves when
   * the writes are durable (they survive a crash of process and machine) or, without writes, when all data that `work`
   * has read is durable.
   *
   * `prepare` is awaited under the same lock, directly before `work`: nothing is committed in between, and `read` sees
   * the newest state. If `prepare` rejects, the promise of `transact` rejects and `work` does not run.
   */
  transact<T>(work: (view: View) => Work<T>, prepare?: () => Promise<void>): Promise<T>
  /**
   * Calls `listener` whenever a commit of this or another process has become visible to `read`. Returns a function that
   * removes the listener. The listener must not throw.
   */
  watch(listener: () => void): () => void
  /** Waits for running commits, then frees all resources. */
  close(): Promise<void>
}
