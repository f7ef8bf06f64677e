// What the query log of one of several machines has from the store that they share. The store's side of it is in
// `src/kv/postgres/log-chunks.ts` and `src/kv/postgres/files.ts`.

import type { KeyValueStore } from '../kv/contract.ts'
import type { Chunk, RecordLogChunks } from '../kv/postgres/log-chunks.ts'
import type { Micros } from '../values/value.ts'
import type { FileTable } from './downloads.ts'

/** Where the pieces themselves lie when they are not in the store: in the bucket of the exports. */
export interface ChunkStorage {
  store(name: string, body: Uint8Array): Promise<void>
  /** Undefined when there is no file of that name. */
  fetch(name: string): Promise<Uint8Array | undefined>
  remove(name: string): Promise<void>
}

/** The name of a piece in a bucket. Pieces of a segment stand in their order. */
export function chunkName({ writer, start, position }: Chunk): string {
  const [from, at] = [start, position].map(number => String(number).padStart(19, '0'))
  return `segments/${from}-${writer}-${at}.ndjson.gz`
}

/** The parts of the query log that machines share. */
export interface SharedLog {
  /** Account keys and export requests. */
  readonly kv: KeyValueStore
  /** The clock that all machines share. */
  readonly now: () => Micros
  readonly chunks: Pick<RecordLogChunks, keyof RecordLogChunks>
  /** Keeps the bodies of pieces; absent: the table does. */
  readonly bucket?: ChunkStorage | undefined
  /** Files that every machine can read. */
  readonly files: FileTable
  /** Whether this process hands over the segments of its machine; one of a machine does. */
  readonly handsOver: boolean
  /** Whether this process is the one of all that removes what is old. */
  readonly mayWork: () => boolean
}
