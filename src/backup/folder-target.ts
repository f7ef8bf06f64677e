// A folder as the target of a continuous backup. Each object is a file; the slashes of its name separate folders. A file is
// written under a temporary name, flushed and renamed, so a crash leaves no incomplete object.

import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemRandom } from '../base/random.ts'
import { reasonOf } from '../base/system-reasons.ts'
import { flushFolder } from '../storage/kv/log/segment-files.ts'
import { BackupError } from './errors.ts'
import type { BackupTarget } from './target.ts'

/** Suffix of the temporary names. */
const draftEnd = '.partial'

export class FolderTarget implements BackupTarget {
  readonly name: string

  /** `folder`: an absolute path. */
  constructor(folder: string) {
    this.name = folder
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.name, name)
    const draft = `${path}.${systemRandom.hex(4)}${draftEnd}`
    await this.#explained('written', async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      try {
        const file = await open(draft, 'w', 0o600)
        try {
          await file.writeFile(bytes)
          await file.sync()
        } finally {
          await file.close()
        }
        await rename(draft, path)
      } catch (cause) {
        await rm(draft, { force: true }).catch(() => undefined)
        throw cause
      }
      await flushFolder(dirname(path))
    })
  }

  async get(name: string): Promise<Buffer | undefined> {
    return this.#explained('read', () => readFile(join(this.name, name)).catch(absent))
  }

  async *list(prefix: string, after = ''): AsyncIterable<string> {
    // A prefix may end within a file name, so only the part up to the last slash is a folder.
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    const names = await this.#explained('read', () => this.#namesBelow(folder))
    for (const name of names.sort()) if (name.startsWith(prefix) && name > after) yield name
  }

  async remove(name: string): Promise<void> {
    await this.#explained('written', () => rm(join(this.name, name), { force: true }))
  }

  async #namesBelow(folder: string): Promise<string[]> {
    const entries = await readdir(join(this.name, folder), { withFileTypes: true }).catch(absent)
    const names: string[] = []
    for (const entry of entries ?? []) {
      const name = folder + entry.name
      if (entry.isDirectory()) names.push(...(await this.#namesBelow(`${name}/`)))
      else if (!name.endsWith(draftEnd)) names.push(name)
    }
    return names
  }

  async #explained<T>(what: 'read' | 'written', work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      throw new BackupError(`the backup folder ${this.name} cannot be ${what}: ${reasonOf(cause)}`, { cause })
    }
  }
}

function absent(cause: NodeJS.ErrnoException): undefined {
  if (cause.code !== 'ENOENT') throw cause
}
