// What the query log of one of several machines has from the store that they share. The store's side of it is in
// `src/kv/postgres/log-chunks.ts` and `src/kv/postgres/files.ts`.

import type { KeyValueStore } from '../kv/contract.ts'
import type { Micros } from '../values/value.ts'
import type { FileTable } from './downloads.ts'

/** A piece of a segment that its machine has handed over. Pieces of a segment follow each other without a gap. */
export interface Chunk {
  /** The segment: the writer, and from when on (microseconds) it holds records. */
  readonly writer: string
  readonly start: Micros
  /** Where in the segment the piece begins, and its length, in bytes. */
  readonly position: number
  readonly bytes: number
  /** Microseconds: no record in it is younger. */
  readonly until: Micros
}

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

/** The pieces of all machines. Whatever fails here rejects with `StoreUnavailableError`. */
interface ChunkTable {
  /** How much of each segment of these writers has been handed over, by writer and start as `writer/start`. */
  handedOver(writers: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** `body`: the piece, compressed; undefined when it is kept elsewhere. Adding a piece again changes nothing. */
  add(chunk: Chunk, body: Uint8Array | undefined): Promise<void>
  /** All pieces of the segments that may hold records of a span (microseconds), in their order. */
  between(from: Micros, to: Micros): Promise<readonly Chunk[]>
  body(chunk: Chunk): Promise<Uint8Array | undefined>
  /** The pieces older than `before`, and the oldest of the others without which the rest has at most `bytesMax`. */
  old(before: Micros, bytesMax: number): Promise<readonly Chunk[]>
  remove(chunk: Chunk): Promise<void>
  /** Asks all machines to hand over what was recorded up to `time`. */
  ask(time: Micros): Promise<void>
  /** Up to when all machines are asked to hand over. */
  asked(): Promise<Micros>
  /** Says that this machine lives, and has handed over all that was recorded up to `until`. */
  report(until: Micros): Promise<void>
  /** The oldest of what the machines that live have reported; Infinity when there is none. */
  reportedByAll(): Promise<Micros>
  /** Says that this machine has ended. */
  retire(): Promise<void>
}

/** The parts of the query log that machines share. */
export interface SharedLog {
  /** Account keys and export requests. */
  readonly kv: KeyValueStore
  /** The clock that all machines share. */
  readonly now: () => Micros
  readonly chunks: ChunkTable
  /** Keeps the bodies of pieces; absent: the table does. */
  readonly bucket?: ChunkStorage | undefined
  /** Files that every machine can read. */
  readonly files: FileTable
  /** Whether this process hands over the segments of its machine; one of a machine does. */
  readonly handsOver: boolean
  /** Whether this process is the one of all that removes what is old. */
  readonly mayWork: () => boolean
}
