// The parts of the query log that several machines share through their store. The code of the store is in
// `src/storage/postgres/log-chunks.ts` and `src/storage/postgres/files.ts`. Account keys and export requests are rows of
// the store, so every machine can read them. The store may be unavailable.

import { RequestError } from '../base/request-errors.ts'
import { controlKey, tagRange } from '../storage/keys/keyspace.ts'
import type { Entry, KeyValueStore, View } from '../storage/kv/kv-contract.ts'
import { StoreUnavailableError } from '../storage/kv/store-errors.ts'
import type { Chunk, RecordLogChunks } from '../storage/postgres/log-chunks.ts'
import type { Micros } from '../values/value.ts'
import type { FileTable } from './export-storage.ts'

/** The storage of chunks (parts of log segments) outside of the store: the bucket of the exports. */
export interface ChunkStorage {
  store(name: string, body: Uint8Array): Promise<void>
  /** Returns undefined when the file does not exist. */
  fetch(name: string): Promise<Uint8Array | undefined>
  remove(name: string): Promise<void>
}

/**
 * The name of a chunk in a bucket. Chunks of a segment sort by position. The rows of chunks do not contain the format of
 * the segment, so the chunks of all formats have the same ending.
 */
export function chunkName({ writer, start, position }: Chunk): string {
  const [from, at] = [start, position].map(number => String(number).padStart(19, '0'))
  return `segments/${from}-${writer}-${at}.ndjson.gz`
}

/** The parts of the query log that machines share. */
export interface SharedLog {
  /** Account keys and export requests. */
  readonly kv: KeyValueStore
  /** Waits until `kv` has all commits of all machines. Rejects with `StoreUnavailableError`. */
  readonly waitUntilCurrent: () => Promise<void>
  /** The clock that all machines share. */
  readonly now: () => Micros
  readonly chunks: Pick<RecordLogChunks, keyof RecordLogChunks>
  /** Stores the contents of chunks. Undefined if the store itself contains the contents. */
  readonly bucket?: ChunkStorage | undefined
  /** Files that every machine can read. */
  readonly files: FileTable
  /** True if this process uploads the segments of its machine. One process of each machine uploads the segments. */
  readonly uploads: boolean
  /** Returns whether this process currently removes old data. Only one process of all machines removes old data. */
  readonly mayWork: () => boolean
}

/** Throws `cause`. If the cause is that the store is unavailable, throws `service unavailable` (503) instead. */
export function rethrowStoreError(cause: unknown): never {
  if (cause instanceof StoreUnavailableError) throw new RequestError('service unavailable', cause.message)
  throw cause
}

/**
 * Returns whether an operation failed because the store was unavailable. The caller can then retry the operation later.
 */
export function isUnavailable(cause: unknown): boolean {
  return (
    cause instanceof StoreUnavailableError ||
    (cause instanceof RequestError && cause.code === 'service unavailable')
  )
}

/** A view of `kv` that contains only the rows without a database. Store failures become `service unavailable`. */
export function controlRows(kv: KeyValueStore): KeyValueStore {
  return {
    read: read => withStoreErrors(() => kv.read(view => read(controlView(view)))),
    transact: work =>
      kv
        .transact(view => {
          const { result, writes } = work(controlView(view))
          return { result, writes: writes.map(({ key, value }) => ({ key: controlKey(key), value })) }
        })
        .catch(rethrowStoreError),
    watch: listener => kv.watch(listener),
    // The code that opened the underlying store closes it.
    close: () => Promise.resolve(),
  }
}

/** Rows of {@link controlRows}. The keys do not contain the tag `control`. */
export function allControlRows(view: View): Entry[] {
  return [...withOwnKeys(view.range(tagRange('control')))]
}

function controlView(view: View): View {
  return {
    get: key => view.get(controlKey(key)),
    range: ({ start, end, ...rest }) =>
      withOwnKeys(view.range({ ...rest, start: controlKey(start), end: controlKey(end) })),
  }
}

function* withOwnKeys(rows: Iterable<Entry>): Generator<Entry> {
  for (const { key, value } of rows) yield { key: key.subarray(1), value }
}

function withStoreErrors<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    return rethrowStoreError(cause)
  }
}
