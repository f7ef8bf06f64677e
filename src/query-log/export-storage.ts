// The storage of exported files. `ExportStorage` has two implementations. `Downloads` stores the files in a folder of
// the data directory, or in the store that several machines share. Clients download these files from this service.
// s3-storage.ts stores the files in a bucket of an S3-compatible service.

import { createReadStream } from 'node:fs'
import { open, readdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { makeFolder } from '../base/folders.ts'
import { microsPerDay } from '../base/micros.ts'
import type { Random } from '../base/random.ts'
import { flushFolder } from '../storage/log/segment-files.ts'
import type { Micros } from '../values/value.ts'
import { ifPresent, modificationTime, removeFile } from './segment-files.ts'
import type { Signer } from './signing.ts'

export interface ExportStorage {
  /**
   * Stores a file once all of `content` has arrived, and replaces an older file with the same name. Incomplete files
   * are never visible.
   */
  store(name: string, content: Readable, signal: AbortSignal): Promise<void>
  exists(name: string): Promise<boolean>
  /**
   * Returns the address for downloading the file without a credential: a URL, or a path on this service with a query
   * string. The address is valid until `expires`, in seconds since the Unix epoch.
   */
  address(name: string, expires: number): Promise<string>
  /** Does nothing if the file does not exist. */
  remove(name: string): Promise<void>
}

/** The name of the file that an export request creates. */
export function fileName(requestId: string): string {
  return `${requestId}.ndjson.gz`
}

/** The files of {@link Downloads}, in a folder or in the store that several machines share. */
export interface FileTable {
  /** Like {@link ExportStorage.store}. */
  store(name: string, content: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void>
  /** Returns the size in bytes; undefined if the file does not exist. */
  size(name: string): Promise<number | undefined>
  read(name: string): AsyncIterable<Buffer>
  remove(name: string): Promise<void>
  /** Removes old incomplete files, which interrupted calls of `store` have left. */
  removeLeftovers(now: Micros): Promise<void>
}

/** Matches the names that {@link fileName} creates. Downloads of files with other names are rejected. */
const namePattern = /^[0-9a-f-]{36}\.ndjson\.gz$/

/**
 * Exported files that clients download from this service through signed URLs. `files` determines where the files are
 * stored.
 */
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

  /** Returns undefined if the file does not exist. */
  async open(name: string): Promise<{ readonly content: Readable; readonly bytes: number } | undefined> {
    const bytes = namePattern.test(name) ? await this.files.size(name) : undefined
    if (bytes === undefined) return undefined
    return { bytes, content: Readable.from(this.files.read(name), { objectMode: false }) }
  }
}

export class LocalFiles implements FileTable {
  readonly #folder: string
  readonly #random: Random

  constructor(folder: string, random: Random) {
    this.#folder = folder
    this.#random = random
  }

  async store(name: string, content: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> {
    const path = this.#path(name)
    makeFolder(this.#folder, 0o700)
    const temporary = `${path}.${this.#random.hex(8)}.part`
    try {
      const file = await open(temporary, 'wx', 0o600)
      await pipeline(content, file.createWriteStream({ flush: true }), { signal })
      await rename(temporary, path)
      await flushFolder(this.#folder)
    } finally {
      await removeFile(temporary)
    }
  }

  async size(name: string): Promise<number | undefined> {
    return (await ifPresent(stat(this.#path(name))))?.size
  }

  async *read(name: string): AsyncGenerator<Buffer> {
    yield* createReadStream(this.#path(name))
  }

  remove(name: string): Promise<void> {
    return removeFile(this.#path(name))
  }

  async removeLeftovers(now: Micros): Promise<void> {
    for (const name of (await ifPresent(readdir(this.#folder))) ?? []) {
      if (!name.endsWith('.part')) continue
      const modified = await modificationTime(this.#path(name))
      if (modified !== undefined && modified < now - microsPerDay) await this.remove(name)
    }
  }

  #path(name: string): string {
    return join(this.#folder, name)
  }
}
