// The storage contract: ordered bytes with snapshots and atomic, durable commits. The contract is independent of
// documents. Every engine (memory, LMDB, …) passes the same suite in tests/kv.

/**
 * The bytes of a key or a value. Keys are ordered by their bytes as unsigned numbers, and a prefix of a key sorts
 * before the key. Stored keys have 1 to {@link keyBytesMax} bytes. The bounds of a range may have any length.
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
  /**
   * Reads the entries while the caller iterates. The caller may stop early. The data must not change during the
   * iteration.
   */
  range(range: KeyRange): Iterable<Entry>
}

/** A change of a commit; `value` undefined deletes the key. */
export interface Write {
  readonly key: Bytes
  readonly value: Bytes | undefined
}

/** The result of a transaction function, and the changes to apply. Without changes nothing is committed. */
export interface Work<T> {
  readonly result: T
  readonly writes: readonly Write[]
  /**
   * Further writes of a large transaction, as encoded pieces. Between two pieces, an engine may let the process do
   * other work, but runs no other transaction.
   */
  readonly pieces?: EncodedWrites
}

/** Encoded writes. Each element is a part of a batch (`batch.ts`), which is created when the iteration reaches it. */
export interface EncodedWrites extends Iterable<Bytes> {
  /** Upper limits for the number of writes, and for the bytes of all parts. */
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
   * atomically; transactions are strictly serializable. All other writers wait meanwhile, so `work` must be short.
   * Usually it validates an attempt that was evaluated before the call, and returns the writes of the attempt
   * (storage/store/attempt.ts). Transactions that wait together may share one lock and one flush; each sees the writes
   * of the transactions before it. `work` is synchronous and may run more than once; only the last run counts. If it
   * throws, the promise rejects and nothing is written. The promise resolves when the writes are durable (they survive
   * a crash of process and machine). If there are no writes, it resolves when all data that `work` has read is durable.
   *
   * `prepare` is awaited under the same lock, directly before `work`: nothing is committed between `prepare` and
   * `work`, and `read` sees the newest state. If `prepare` rejects, the promise of `transact` rejects and `work` does
   * not run.
   */
  transact<T>(work: (view: View) => Work<T>, prepare?: () => Promise<void>): Promise<T>
  /**
   * Calls `listener` after each commit of this or another process becomes visible to `read`; returns a function that
   * removes the listener. The listener must not throw.
   */
  watch(listener: () => void): () => void
  /** Waits for running commits, then frees all resources. */
  close(): Promise<void>
}
