// The storage of exported files. `Downloads`, whose files this service serves itself, and S3-compatible buckets
// implement it.

import type { Readable } from 'node:stream'

export interface ExportStorage {
  /** Stores a file once all of `content` has arrived, and replaces an older one. Incomplete files are never visible. */
  store(name: string, content: Readable, signal: AbortSignal): Promise<void>
  exists(name: string): Promise<boolean>
  /**
   * The address at which the file can be fetched without a credential until `expires` (seconds since the Unix epoch): a
   * URL, or a path with query on this service.
   */
  address(name: string, expires: number): Promise<string>
  /** Removes a file; it need not exist. */
  remove(name: string): Promise<void>
}

/** The name of a request's file. */
export function fileName(requestId: string): string {
  return `${requestId}.ndjson.gz`
}
