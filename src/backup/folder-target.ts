// A folder as the target of a continuous backup. Each object is a file; the slashes of its name separate folders. A file
// is written under a temporary name, flushed and renamed, so a crash leaves no incomplete object.

import { createHash } from 'node:crypto'
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../base/folders.ts'
import { systemRandom } from '../base/random.ts'
import { reasonOf } from '../base/system-reasons.ts'
import { flushFolder } from '../storage/log/segment-files.ts'
import { BackupError, type BackupTarget, checkSize, objectBytesMax } from './target.ts'

const temporarySuffix = '.partial'

export class FolderTarget implements BackupTarget {
  readonly name: string

  /** `folder`: an absolute path. */
  constructor(folder: string) {
    this.name = folder
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    await this.#writeTemporary(name, bytes, async (temporary, path) => {
      await rename(temporary, path)
      return true
    })
  }

  /**
   * Writes a temporary file, then calls `move` to move the file to its final path. Returns whether `move` has moved the
   * file.
   */
  async #writeTemporary(
    name: string,
    bytes: Uint8Array,
    move: (temporary: string, path: string) => Promise<boolean>,
  ): Promise<boolean> {
    const path = join(this.name, name)
    const temporary = `${path}.${systemRandom.hex(4)}${temporarySuffix}`
    return this.#withReason('written', async () => {
      makeFolder(dirname(path), 0o700)
      try {
        const file = await open(temporary, 'w', 0o600)
        try {
          await file.writeFile(bytes)
          await file.sync()
        } finally {
          await file.close()
        }
        const isMoved = await move(temporary, path)
        if (isMoved) await flushFolder(dirname(path))
        return isMoved
      } finally {
        await rm(temporary, { force: true }).catch(() => undefined)
      }
    })
  }

  async getTagged(name: string): Promise<{ readonly bytes: Buffer; readonly tag: string } | undefined> {
    const bytes = await this.get(name)
    return bytes && { bytes, tag: tagOf(bytes) }
  }

  /**
   * Linking to an existing name fails, so only one of several processes creates an object. To replace an object, a
   * process first links its temporary file to a name that contains the tag of the object's present content, so only one
   * process can replace this content. A file system without links has no conditional writes.
   */
  async putTagged(name: string, bytes: Uint8Array, tag: string | undefined): Promise<boolean> {
    return this.#writeTemporary(name, bytes, async (temporary, path) => {
      try {
        if (tag === undefined) return await linkNew(temporary, path)
        const successor = `${path}.after-${tag}${temporarySuffix}`
        if (!(await linkNew(temporary, successor))) {
          await removeAbandoned(successor, temporary)
          return false
        }
        // Before the link, another process may have linked a file to the same name and moved this file to the object,
        // which then has another tag.
        const isCurrent = (await this.getTagged(name))?.tag === tag
        if (isCurrent) return await moveExisting(successor, path)
        await rm(successor, { force: true })
        return false
      } catch (cause) {
        if (!linkErrors.has((cause as NodeJS.ErrnoException).code ?? '')) throw cause
        await rename(temporary, path)
        return true
      }
    })
  }

  async get(name: string, bytesMax: number = objectBytesMax): Promise<Buffer | undefined> {
    return this.#withReason('read', async () => {
      const file = await open(join(this.name, name)).catch(ignoreMissing)
      if (file === undefined) return undefined
      try {
        checkSize(name, (await file.stat()).size, bytesMax)
        return await file.readFile()
      } finally {
        await file.close()
      }
    })
  }

  async *list(prefix: string, after = ''): AsyncIterable<string> {
    // A prefix may end within a file name, so only the part up to the last slash is a folder.
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    const names: string[] = []
    await this.#withReason('read', () => this.#addNamesBelow(folder, names))
    for (const name of names.sort()) if (name.startsWith(prefix) && name > after) yield name
  }

  async remove(name: string): Promise<void> {
    await this.#withReason('written', () => rm(join(this.name, name), { force: true }))
  }

  async #addNamesBelow(folder: string, names: string[]): Promise<void> {
    const entries = await readdir(join(this.name, folder), { withFileTypes: true }).catch(ignoreMissing)
    for (const entry of entries ?? []) {
      const name = folder + entry.name
      if (entry.isDirectory()) await this.#addNamesBelow(`${name}/`, names)
      else if (!name.endsWith(temporarySuffix)) names.push(name)
    }
  }

  async #withReason<T>(what: 'read' | 'written', work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      if (cause instanceof BackupError) throw cause
      throw new BackupError(`the backup folder ${this.name} cannot be ${what}: ${reasonOf(cause)}`, { cause })
    }
  }
}

/** The error codes of file systems without links. */
const linkErrors: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])
/**
 * Milliseconds after which the file of a conditional write counts as abandoned, because its process was killed. Another
 * process then removes the file.
 */
const abandonedMs = 25_000

function tagOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32)
}

/** Returns false if `path` exists. */
async function linkNew(temporary: string, path: string): Promise<boolean> {
  try {
    await link(temporary, path)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw cause
  }
}

/** Returns false if another process has removed the file as abandoned. */
async function moveExisting(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (cause) {
    ignoreMissing(cause as NodeJS.ErrnoException)
    return false
  }
}

/** Removes an abandoned file. The modification time of `newer` is the present time, by the clock of the file system. */
async function removeAbandoned(file: string, newer: string): Promise<void> {
  const [old, present] = await Promise.all([stat(file).catch(ignoreMissing), stat(newer)])
  if (old !== undefined && present.mtimeMs - old.mtimeMs > abandonedMs) await rm(file, { force: true })
}

function ignoreMissing(cause: NodeJS.ErrnoException): undefined {
  if (cause.code !== 'ENOENT') throw cause
}
