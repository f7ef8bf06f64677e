// Where exported files are kept. Downloads, whose files this service hands out itself, and S3-compatible buckets implement it.

import type { Readable } from 'node:stream'

export interface ExportStorage {
  /** Stores a file, replacing an older one, once all of `content` has come; nothing half-way is ever visible. */
  store(name: string, content: Readable, signal: AbortSignal): Promise<void>
  exists(name: string): Promise<boolean>
  /**
   * Where the file can be fetched without credential until `expires` (seconds since the Unix epoch): a URL, or a
   * path with query on this service.
   */
  address(name: string, expires: number): Promise<string>
  /** Removes a file that may be gone already. */
  remove(name: string): Promise<void>
}

/** The name of a request's file. */
export function fileName(requestId: string): string {
  return `${requestId}.ndjson.gz`
}
