// The storage contract: ordered bytes with snapshots and atomic, durable commits. The contract is independent of
// documents. Every engine (memory, LMDB, …) passes the same suite in tests/kv.

/**
 * Keys are compared bytewise, unsigned, and a prefix sorts first. Stored keys have 1 to {@link keyBytesMax} bytes;
 * bounds may have any length.
 */
export type Bytes = Uint8Array

/** The longest key that every engine must store, in bytes. */
export const keyBytesMax = 1900

/** A half-open interval of keys, `start` inclusive and `end` exclusive. */
export interface KeyRange {
  readonly start: Bytes
  readonly end: Bytes
  /** Largest key first when true. */
  readonly reverse?: boolean
  /** Maximum number of entries; unlimited when absent. */
  readonly limit?: number
}

/** All keys that can be stored. */
export const everyKey: Pick<KeyRange, 'start' | 'end'> = {
  start: new Uint8Array(0),
  end: new Uint8Array(keyBytesMax + 1).fill(0xff),
}

/** A key and its value. */
export interface Entry {
  readonly key: Bytes
  readonly value: Bytes
}

/** Reads of one consistent state. Returned arrays belong to the caller and stay valid after the view has ended. */
export interface View {
  get(key: Bytes): Bytes | undefined
  /** Lazy: reads during the iteration, which may be left early. The view must not change meanwhile. */
  range(range: KeyRange): Iterable<Entry>
}

/** One change of a commit; `value` undefined deletes the key. */
export interface Write {
  readonly key: Bytes
  readonly value: Bytes | undefined
}

/** The result of a transaction function, and the changes to apply. Without changes nothing is committed. */
export interface Work<T> {
  readonly result: T
  readonly writes: readonly Write[]
  /**
   * Writes of a large transaction that precede `writes`. An engine may run other work of the process between two
   * pieces, but no other transaction.
   */
  readonly pieces?: EncodedWrites
}

/** Writes as parts of a batch (`batch.ts`), created on demand. */
export interface EncodedWrites extends Iterable<Bytes> {
  /** The maximum number of writes, and the bytes of all parts. */
  readonly rowsMax: number
  readonly bytesMax: number
}

/** Ordered bytes with snapshots and atomic commits. */
export interface KeyValueStore {
  /**
   * Runs `read` synchronously on a snapshot of everything that any process sharing the store has committed so far, and
   * returns its result. A read inside another read shares the snapshot; inside a transaction it throws.
   */
  read<T>(read: (view: View) => T): T
  /**
   * Runs the transaction function `work` under the writer's lock, on the newest state, and applies its writes
   * atomically; transactions are strictly serializable. All other writers wait meanwhile, so `work` must be short: it
   * validates an attempt that was evaluated before (see storage/store/attempt.ts) and returns the writes. Transactions
   * that wait together may share one lock and one flush; each sees the writes of the transactions before it. `work` is
   * synchronous and may run more than once; only the last run counts. If it throws, the promise rejects and nothing is
   * written. The promise resolves when the writes are durable (survive a crash of process and machine); without writes,
   * when all data that `work` has read is durable.
   *
   * `prepare` is awaited under the same lock, directly before `work`: nothing is committed between them, and `read`
   * sees the newest state. If it rejects, the promise rejects and `work` does not run.
   */
  transact<T>(work: (view: View) => Work<T>, prepare?: () => Promise<void>): Promise<T>
  /**
   * Calls `listener` after each commit of this or another process becomes visible to `read`; returns a function that
   * stops this. The listener must not throw.
   */
  watch(listener: () => void): () => void
  /** Waits for running commits, then frees all resources. */
  close(): Promise<void>
}
