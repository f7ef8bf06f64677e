// The files that a user names, or that lie below the folders that they name, each with what it holds; and whether an
// export is complete by what its metadata says.

import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import type { DatabasePath } from './connection.ts'
import { type Content, recognise } from './recognise.ts'
import { TransferError } from './record.ts'

/** A file to be imported. */
export interface SourceFile {
  readonly path: string
  /** As it is called in messages. */
  readonly shown: string
  /** Bytes on the disk. */
  readonly bytes: number
  readonly modifiedMs: number
  readonly content: Content
  /** The database below the one of the import that it belongs to. */
  readonly database: DatabasePath
  /** By its name, for formats that do not say. */
  readonly collection: string
}

export interface Sources {
  readonly files: readonly SourceFile[]
  /** Databases that an export holds, its own root not counted, outermost first. */
  readonly databases: readonly DatabasePath[]
  /** Collections that metadata names, by database. */
  readonly collections: readonly { readonly database: DatabasePath; readonly name: string }[]
  /** What metadata says and the files do not bear out; each a sentence. */
  readonly incomplete: readonly string[]
  /** Files that hold nothing that can be imported. */
  readonly passedOver: readonly string[]
}

/** Looks at files and folders. Throws {@link TransferError} for what does not exist. */
export async function findSources(paths: readonly string[], collection?: string): Promise<Sources> {
  const finder = new Finder(collection)
  for (const path of paths) await finder.add(path)
  return finder.sources()
}

const metadataName = /^metadata_[0-9]+\.json$/

class Finder {
  readonly #collection: string | undefined
  readonly #files: SourceFile[] = []
  readonly #databases: DatabasePath[] = []
  readonly #collections: { readonly database: DatabasePath; readonly name: string }[] = []
  readonly #incomplete: string[] = []
  readonly #passedOver: string[] = []

  constructor(collection: string | undefined) {
    this.#collection = collection
  }

  async add(path: string): Promise<void> {
    const about = await stat(path).catch(() => {
      throw new TransferError(`${path} does not exist`)
    })
    if (about.isDirectory()) await this.#folder(path, path, [])
    else await this.#file(path, path, [])
  }

  sources(): Sources {
    return {
      files: this.#files,
      databases: this.#databases,
      collections: this.#collections,
      incomplete: this.#incomplete,
      passedOver: this.#passedOver,
    }
  }

  async #folder(folder: string, top: string, database: DatabasePath): Promise<void> {
    const entries = (await readdir(folder, { withFileTypes: true })).filter(
      ({ name }) => !name.startsWith('.'),
    )
    entries.sort((left, right) => (left.name < right.name ? -1 : 1))
    const metadata = entries
      .filter(entry => entry.isFile() && metadataName.test(entry.name))
      .map(({ name }) => name)
    if (metadata.length > 0) await this.#checkExport(folder, metadata, database)
    for (const entry of entries) {
      const path = join(folder, entry.name)
      if (!entry.isDirectory()) await this.#file(path, top, database)
      else if (metadata.length > 0 && entry.name === 'databases') await this.#children(path, top, database)
      else await this.#folder(path, top, database)
    }
  }

  /** The child databases of an export, a folder each. */
  async #children(folder: string, top: string, database: DatabasePath): Promise<void> {
    const entries = (await readdir(folder, { withFileTypes: true })).filter(entry => entry.isDirectory())
    for (const { name } of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
      const child = [...database, nameOf(name)]
      this.#databases.push(child)
      await this.#folder(join(folder, name), top, child)
    }
  }

  async #file(path: string, top: string, database: DatabasePath): Promise<void> {
    const { size, mtimeMs } = await stat(path)
    const shown = path === top ? path : join(basename(top), relative(top, path))
    const content = await recognise(path)
    if (content.kind === 'metadata') return
    if (content.kind === 'unknown' || content.kind === 'empty') {
      this.#passedOver.push(`${shown} (${content.kind === 'empty' ? 'empty' : 'of no known format'})`)
      return
    }
    const collection =
      this.#collection ?? basename(path).replace(/(?:\.(?:gz|jsonl?|ndjson|csv|tsv|txt))+$/i, '')
    this.#files.push({ path, shown, bytes: size, modifiedMs: mtimeMs, content, database, collection })
  }

  async #checkExport(folder: string, names: readonly string[], database: DatabasePath): Promise<void> {
    const parts = await Promise.all(names.map(async name => readMetadata(join(folder, name))))
    const files = await dataFiles(join(folder, 'data'))
    const total = Math.max(...parts.map(({ totalParts }) => totalParts))
    for (let part = 0; part < total; part++) {
      const found = parts.find(each => each.part === part)
      if (found) this.#incomplete.push(...partFaults(folder, found, files))
      else this.#incomplete.push(`${folder}: the metadata of part ${part} of ${total} is missing`)
    }
    for (const name of new Set(parts.flatMap(({ collections }) => collections))) {
      if (name !== 'Credential') this.#collections.push({ database, name })
    }
  }
}

/** The name that a step of a path stands for. */
function nameOf(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

interface Metadata {
  readonly part: number
  readonly totalParts: number
  readonly filesCount: number
  readonly filesBytes: number | undefined
  readonly collections: readonly string[]
}

async function readMetadata(path: string): Promise<Metadata> {
  try {
    const json = JSON.parse(await readFile(path, 'utf8')) as Readonly<Record<string, unknown>>
    const {
      part = 0,
      total_parts: totalParts = 1,
      files_count: filesCount,
      files_bytes: filesBytes,
      collections,
    } = json
    const isWhole = Number.isInteger(part) && Number.isInteger(totalParts) && Number.isInteger(filesCount)
    if (isWhole && Array.isArray(collections)) {
      return {
        part: part as number,
        totalParts: totalParts as number,
        filesCount: filesCount as number,
        filesBytes: typeof filesBytes === 'number' ? filesBytes : undefined,
        collections: collections.map(String),
      }
    }
  } catch {
    // Said below.
  }
  throw new TransferError(`${path}: this is no metadata of an export, or it is damaged`)
}

interface DataFile {
  readonly name: string
  readonly bytes: number
}

/** All files of data below a folder. */
async function dataFiles(folder: string): Promise<readonly DataFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter(entry => entry.isFile())
  return Promise.all(
    files.map(async ({ name, parentPath }) => ({ name, bytes: (await stat(join(parentPath, name))).size })),
  )
}

/** Names of files end in the part and the file's number. */
function partFaults(folder: string, metadata: Metadata, files: readonly DataFile[]): readonly string[] {
  const { filesBytes, filesCount, part } = metadata
  const own = files.filter(
    ({ name }) => Number(/_([0-9]{2,})_[0-9]{6}\.jsonl?(?:\.gz)?$/.exec(name)?.[1]) === part,
  )
  if (own.length !== filesCount)
    return [`${folder}: part ${part} has ${own.length} files, its metadata says ${filesCount}`]
  const bytes = own.reduce((sum, file) => sum + file.bytes, 0)
  // Of compressed files it is not said which bytes were counted.
  if (filesBytes === undefined || bytes === filesBytes || own.some(({ name }) => name.endsWith('.gz')))
    return []
  return [`${folder}: the files of part ${part} have ${bytes} bytes, their metadata says ${filesBytes}`]
}
