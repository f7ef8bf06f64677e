// Where the pieces of log segments lie when they are not in the store itself: in the bucket of the exports.

import type { Chunk } from './shared-log.ts'

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
