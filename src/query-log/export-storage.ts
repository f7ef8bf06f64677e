// Where exported files are kept. The local disk and S3-compatible buckets implement it.

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

/** One whose files this service hands out itself. */
export interface DownloadStorage extends ExportStorage {
  /** Opens a file for its download; undefined when there is none of that name. */
  open(name: string): Promise<{ readonly content: Readable; readonly bytes: number } | undefined>
  /** Removes what crashed processes left half-written; `now` in microseconds. */
  removeLeftovers(now: number): Promise<void>
}

/** Whether a name is one of {@link fileName}: no other ever reaches a file system or a table. */
export function isFileName(name: string): boolean {
  return /^[0-9a-f-]{36}\.ndjson\.gz$/.test(name)
}

/** The name of a request's file. */
export function fileName(requestId: string): string {
  return `${requestId}.ndjson.gz`
}
