// Exported files that clients download from this service through signed URLs, in whatever storage they are.

import { Readable } from 'node:stream'
import type { Micros } from '../values/value.ts'
import type { ExportStorage } from './export-storage.ts'
import type { Signer } from './signing.ts'

/** The storage of files: a folder, or the store that several machines share. */
export interface FileTable {
  /** Stores a file once all of `content` has arrived, and replaces an older one. */
  store(name: string, content: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void>
  /** The size of a file in bytes; undefined when it does not exist. */
  size(name: string): Promise<number | undefined>
  read(name: string): AsyncIterable<Buffer>
  remove(name: string): Promise<void>
  /** Removes incomplete files. */
  removeLeftovers(now: Micros): Promise<void>
}

/** Only names made by `fileName` reach a file system or a table. */
const namePattern = /^[0-9a-f-]{36}\.ndjson\.gz$/

export class Downloads implements ExportStorage {
  readonly files: FileTable
  readonly #signer: Signer

  constructor(files: FileTable, signer: Signer) {
    this.files = files
    this.#signer = signer
  }

  store(name: string, content: Readable, signal: AbortSignal): Promise<void> {
    return this.files.store(name, content, signal)
  }

  async exists(name: string): Promise<boolean> {
    return (await this.files.size(name)) !== undefined
  }

  async address(name: string, expires: number): Promise<string> {
    await this.#signer.ready()
    return this.#signer.target(name, expires)
  }

  remove(name: string): Promise<void> {
    return this.files.remove(name)
  }

  /** Opens a file for its download; undefined when it does not exist. */
  async open(name: string): Promise<{ readonly content: Readable; readonly bytes: number } | undefined> {
    const bytes = namePattern.test(name) ? await this.files.size(name) : undefined
    if (bytes === undefined) return undefined
    return { bytes, content: Readable.from(this.files.read(name), { objectMode: false }) }
  }
}
