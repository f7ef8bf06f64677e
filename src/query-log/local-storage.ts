// Exported files in a folder of the data directory, downloaded from this service through signed URLs.

import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { microsPerDay } from '../base/durations.ts'
import type { Random } from '../base/random.ts'
import type { Micros } from '../values/value.ts'
import { type DownloadStorage, isFileName } from './export-storage.ts'
import { modificationTime, syncFolder } from './segment-files.ts'
import type { Signer } from './signing.ts'

export class LocalStorage implements DownloadStorage {
  readonly #folder: string
  readonly #signer: Signer
  readonly #random: Random

  constructor(folder: string, signer: Signer, random: Random) {
    this.#folder = folder
    this.#signer = signer
    this.#random = random
  }

  async store(name: string, content: Readable, signal: AbortSignal): Promise<void> {
    const path = this.#path(name)
    const draft = `${path}.${this.#random.hex(8)}.part`
    try {
      const file = await open(draft, 'wx', 0o600)
      await pipeline(content, file.createWriteStream({ flush: true }), { signal })
      await rename(draft, path)
      await syncFolder(this.#folder)
    } finally {
      await rm(draft, { force: true })
    }
  }

  async exists(name: string): Promise<boolean> {
    return (await modificationTime(this.#path(name))) !== undefined
  }

  async address(name: string, expires: number): Promise<string> {
    return this.#signer.target(name, expires)
  }

  remove(name: string): Promise<void> {
    return rm(this.#path(name), { force: true })
  }

  async open(name: string): Promise<{ readonly content: Readable; readonly bytes: number } | undefined> {
    if (!isFileName(name)) return undefined
    let file: FileHandle
    try {
      file = await open(this.#path(name))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
    try {
      return { bytes: (await file.stat()).size, content: file.createReadStream() }
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async removeLeftovers(now: Micros): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name)
      if (!name.endsWith('.part')) continue
      const modified = await modificationTime(path)
      if (modified !== undefined && modified < now - microsPerDay) await rm(path, { force: true })
    }
  }

  #path(name: string): string {
    return join(this.#folder, name)
  }
}
