// Exported files in the store that several machines share, downloaded from any of them through signed URLs.

import { Readable } from 'node:stream'
import type { DownloadStorage } from './export-storage.ts'
import { isFileName } from './export-storage.ts'
import type { FileTable } from './shared-log.ts'
import type { Signer } from './signing.ts'

export class TableStorage implements DownloadStorage {
  readonly #files: FileTable
  readonly #signer: Signer

  constructor(files: FileTable, signer: Signer) {
    this.#files = files
    this.#signer = signer
  }

  store(name: string, content: Readable, signal: AbortSignal): Promise<void> {
    return this.#files.store(name, content, signal)
  }

  async exists(name: string): Promise<boolean> {
    return (await this.#files.size(name)) !== undefined
  }

  async address(name: string, expires: number): Promise<string> {
    return this.#signer.target(name, expires)
  }

  remove(name: string): Promise<void> {
    return this.#files.remove(name)
  }

  async open(name: string): Promise<{ readonly content: Readable; readonly bytes: number } | undefined> {
    const bytes = isFileName(name) ? await this.#files.size(name) : undefined
    if (bytes === undefined) return undefined
    return { bytes, content: Readable.from(this.#files.read(name), { objectMode: false }) }
  }

  removeLeftovers(): Promise<void> {
    return this.#files.removeLeftovers()
  }
}
