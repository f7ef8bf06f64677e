// Stores exported files in a folder of the data directory.

import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { microsPerDay } from '../base/micros.ts'
import type { Random } from '../base/random.ts'
import type { Micros } from '../values/value.ts'
import type { FileTable } from './downloads.ts'
import { ifThere, modificationTime, removeFile, syncFolder } from './segment-files.ts'

export class LocalFiles implements FileTable {
  readonly #folder: string
  readonly #random: Random

  constructor(folder: string, random: Random) {
    this.#folder = folder
    this.#random = random
  }

  async store(name: string, content: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> {
    const path = this.#path(name)
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const draft = `${path}.${this.#random.hex(8)}.part`
    try {
      const file = await open(draft, 'wx', 0o600)
      await pipeline(content, file.createWriteStream({ flush: true }), { signal })
      await rename(draft, path)
      await syncFolder(this.#folder)
    } finally {
      await removeFile(draft)
    }
  }

  async size(name: string): Promise<number | undefined> {
    return (await ifThere(stat(this.#path(name))))?.size
  }

  async *read(name: string): AsyncGenerator<Buffer> {
    yield* createReadStream(this.#path(name))
  }

  remove(name: string): Promise<void> {
    return removeFile(this.#path(name))
  }

  async removeLeftovers(now: Micros): Promise<void> {
    for (const name of (await ifThere(readdir(this.#folder))) ?? []) {
      if (!name.endsWith('.part')) continue
      const modified = await modificationTime(this.#path(name))
      if (modified !== undefined && modified < now - microsPerDay) await this.remove(name)
    }
  }

  #path(name: string): string {
    return join(this.#folder, name)
  }
}
