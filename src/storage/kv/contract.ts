// The storage contract: ordered bytes with snapshots and atomic, durable commits. It knows nothing of
// documents. Every engine (memory, lmdb, …) passes the same suite in tests/kv.

/**
 * Keys compare bytewise, unsigned, shorter prefix first. Stored ones have 1 to {@link keyBytesMax} bytes, bounds any
 * number.
 */
export type Bytes = Uint8Array

/** The longest key every engine must take, in bytes. */
export const keyBytesMax = 1900

/** A half-open interval of keys, `start` inclusive and `end` exclusive. */
export interface KeyRange {
  readonly start: Bytes
  readonly end: Bytes
  /** Largest key first when true. */
  readonly reverse?: boolean
  /** At most this many entries; unlimited when absent. */
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

/** Reads of one consistent state. Arrays returned belong to the caller and stay valid after the view is gone. */
export interface View {
  /** `known`: what may stand there, as the caller remembers it; it is returned itself when just that stands there. */
  get(key: Bytes, known?: Bytes): Bytes | undefined
  /** Lazy: reads as it is iterated; stop early by leaving the loop. The view must not change meanwhile. */
  range(range: KeyRange): Iterable<Entry>
  /** Of a view that notes what is read: the caller relies on there being nothing, which it knows without reading. */
  noteAbsent?(key: Bytes, range: Pick<KeyRange, 'start' | 'end'>): void
}

/** One change of a commit; `value` undefined deletes the key. */
export interface Write {
  readonly key: Bytes
  readonly value: Bytes | undefined
}

/** What a transaction function decided: its result and the changes to apply (none: nothing is committed). */
export interface Work<T> {
  readonly result: T
  readonly writes: readonly Write[]
  /**
   * Writes of a large transaction that come before `writes`. An engine may let other work of the process run between two
   * pieces, but no other transaction.
   */
  readonly pieces?: EncodedWrites
}

/** Writes as parts of a batch (`batch.ts`), made as they are needed. */
export interface EncodedWrites extends Iterable<Bytes> {
  /** How many writes there are at most, and how many bytes all parts have. */
  readonly rowsMax: number
  readonly bytesMax: number
}

/** Writes of others that have become visible together. */
export interface ForeignBatch {
  /** The time of the newest commit before them, in microseconds. */
  readonly after: number
  /** Those of several transactions, one after the other. Only lent: their bytes belong to something larger. */
  readonly writes: readonly Write[]
}

/** Ordered bytes with snapshots and atomic commits. */
export interface KeyValueStore {
  /**
   * Runs `read` synchronously on a snapshot of everything committed so far, by any process that shares
   * the store, and returns its result. Inside another read it shares that one's snapshot; inside a transaction it throws.
   */
  read<T>(read: (view: View) => T): T
  /**
   * Runs the transaction function `work` under the writer's lock, on the newest state, and applies its writes
   * atomically; transactions are strictly serializable. All other writers wait meanwhile, so it is short: it checks
   * what was prepared outside (see storage/store/attempt.ts) and hands over the writes. Transactions that wait together may
   * share one lock and one flush; each sees the writes of those before it. `work` is synchronous and may run more than
   * once; only the last run counts. What it throws rejects the promise and nothing is written. Resolves when the writes
   * are durable (survive a crash of process and machine); without any, when everything `work` has read is durable.
   *
   * `prepare` is awaited under the same lock, right before `work`: nothing is committed between them, and `read` sees the
   * newest state. A rejection rejects the promise, and `work` does not run.
   */
  transact<T>(work: (view: View) => Work<T>, prepare?: () => Promise<void>): Promise<T>
  /**
   * Of an engine whose reads may lag behind commits of other machines: undefined when a snapshot taken now holds all
   * commits up to `notBefore` (microseconds) and follows the time of day; else resolves when it does. Infinity: all that
   * was committed before the call, by any machine. With `isLater` the snapshot also has a time later than `notBefore`, unless
   * what decides about time is away. Rejects with `StoreUnavailableError` when the commits need something that is away.
   */
  ready?(notBefore: number, isLater?: boolean): Promise<void> | undefined
  /**
   * Calls `listener` after each commit of this or another process becomes visible to `read`; returns the way to stop.
   * It must not throw.
   */
  watch(listener: () => void): () => void
  /**
   * Of an engine that gets the writes of other machines: `listener` hears of each of their batches in order, soon after it
   * has become visible. Batches that another process has brought to the same copy are left out.
   */
  watchForeign?(listener: (batch: ForeignBatch) => void): void
  /** Waits for commits under way, then frees everything. */
  close(): Promise<void>
}
