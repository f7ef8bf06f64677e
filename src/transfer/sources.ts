// The files that a user names, or that lie below the folders that they name, each with what it holds; and whether an
// export is complete by what its metadata says.

import type { Stats } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import type { DatabasePath } from './connection.ts'
import { diskSource } from './disk-source.ts'
import { isPiece, nameOfPath } from './export-paths.ts'
import type { ByteSource } from './input.ts'
import { type Content, recognise } from './recognise.ts'
import { TransferError } from './record.ts'

/** A file to be imported. */
export interface SourceFile {
  readonly path: string
  readonly source: ByteSource
  /** The label of its encoding. */
  readonly encoding: string
  /** As it is called in messages. */
  readonly shown: string
  /** Bytes as they are kept, packed or not. */
  readonly bytes: number
  readonly modifiedMs: number
  readonly content: Content
  /** The database below the one of the import that it belongs to. */
  readonly database: DatabasePath
  /** By its name, for formats that do not say. */
  readonly collection: string
  /** Of a schema file in an export: what the database called it. */
  readonly schemaName?: string | undefined
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
  /** There is metadata of an export: it may be one of nothing. */
  readonly isExport: boolean
}

/** What the user says of all files. */
interface SourceOptions {
  /** The collection of what does not say it. */
  readonly collection?: string | undefined
  /** The label of the encoding; of text that is not UTF-8. */
  readonly encoding?: string | undefined
}

/** Looks at files and folders. Throws {@link TransferError} for what does not exist. */
export async function findSources(paths: readonly string[], options: SourceOptions = {}): Promise<Sources> {
  const finder = new Finder(options)
  for (const path of paths) await finder.add(path)
  return finder.found
}

const metadataName = /^metadata_[0-9]+\.json$/

/** What is found, while it is being found. */
type Growing<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] }

class Finder {
  readonly found: Growing<Sources> = {
    files: [],
    databases: [],
    collections: [],
    incomplete: [],
    passedOver: [],
    isExport: false,
  }
  readonly #options: SourceOptions
  /** All files below the folders, with their bytes on the disk. */
  readonly #seen = new Map<string, number>()
  /** The folder of the schema of the export that is being read. */
  #schema: string | undefined
  /** Folders around the present one, without links: one that leads back to them would have no end. */
  readonly #around: string[] = []

  constructor(options: SourceOptions) {
    this.#options = options
  }

  async add(path: string): Promise<void> {
    const about = await stat(path).catch(() => undefined)
    if (about === undefined) throw new TransferError(`${path} does not exist`)
    if (about.isDirectory()) await this.#folder(path, path, [])
    else if (about.isFile()) await this.#file(path, path, [])
    else
      throw new TransferError(`${path} is no file; what comes out of a pipe has to be written to one first`)
  }

  async #folder(folder: string, top: string, database: DatabasePath): Promise<void> {
    const real = await realpath(folder)
    if (this.#around.includes(real)) return
    this.#around.push(real)
    const names = (await readdir(folder)).filter(name => !name.startsWith('.')).sort()
    const about = new Map<string, Stats | undefined>()
    // Of a link it tells of what that leads to.
    for (const name of names) about.set(name, await stat(join(folder, name)).catch(() => undefined))
    const metadata = names.filter(name => metadataName.test(name) && about.get(name)?.isFile())
    const isExport = metadata.length > 0
    for (const [name, found] of about) {
      const path = join(folder, name)
      if (found?.isFile()) await this.#file(path, top, database)
      else if (!found?.isDirectory()) this.found.passedOver.push(`${shownAs(path, top)} (no file)`)
      else if (isExport && name === 'databases') await this.#children(path, path, top, database)
      else if (isExport && name === 'schema') await this.#schemaFolder(path, top, database)
      else await this.#folder(path, top, database)
    }
    if (metadata.length > 0) await this.#checkExport(folder, metadata, database)
    this.#around.pop()
  }

  /** The schema of an export, whose files are called in the database as their paths say. */
  async #schemaFolder(folder: string, top: string, database: DatabasePath): Promise<void> {
    this.#schema = folder
    await this.#folder(folder, top, database)
    this.#schema = undefined
  }

  /** The child databases of an export, a folder each, in `all`; long names have several. */
  async #children(folder: string, all: string, top: string, database: DatabasePath): Promise<void> {
    for (const name of (await readdir(folder)).sort()) {
      const path = join(folder, name)
      if (!(await stat(path)).isDirectory()) continue
      if (isPiece(name)) {
        await this.#children(path, all, top, database)
        continue
      }
      const child = [...database, nameWithin(all, path)]
      this.found.databases.push(child)
      await this.#folder(path, top, child)
    }
  }

  async #file(path: string, top: string, database: DatabasePath): Promise<void> {
    const { size, mtimeMs } = await stat(path)
    this.#seen.set(path, size)
    const shown = shownAs(path, top)
    const source = diskSource(path)
    const { content, encoding } = await recognise(source, this.#options.encoding)
    if (content.kind === 'metadata') return
    if (content.kind === 'unknown' || content.kind === 'empty') {
      this.found.passedOver.push(`${shown} (${content.kind === 'empty' ? 'empty' : 'of no known format'})`)
      return
    }
    const collection = this.#options.collection ?? collectionOf(path)
    this.found.files.push({
      path,
      source,
      encoding,
      shown,
      bytes: size,
      modifiedMs: mtimeMs,
      content,
      database,
      collection,
      ...(this.#schema !== undefined && { schemaName: nameWithin(this.#schema, path).replace(/\.gz$/, '') }),
    })
  }

  async #checkExport(folder: string, names: readonly string[], database: DatabasePath): Promise<void> {
    this.found.isExport = true
    const parts = await Promise.all(names.map(async name => readMetadata(join(folder, name))))
    const files = [...this.#seen].filter(([path]) => path.startsWith(join(folder, 'data', sep)))
    const total = Math.max(...parts.map(({ totalParts }) => totalParts))
    for (let part = 0; part < total; part++) {
      const found = parts.find(each => each.part === part)
      if (found) this.found.incomplete.push(...partFaults(folder, found, files))
      else this.found.incomplete.push(`${folder}: the metadata of part ${part} of ${total} is missing`)
    }
    for (const name of new Set(parts.flatMap(({ collections }) => collections))) {
      if (name !== 'Credential') this.found.collections.push({ database, name })
    }
  }
}

function shownAs(path: string, top: string): string {
  return path === top ? path : join(basename(top), relative(top, path))
}

/** What the names of an export's data files end with: the part, and the number of the file in it. */
const filePart = /_([0-9]{2,})_[0-9]{6}\.jsonl?(?:\.gz)?$/

/** The collection that a file is named after. */
function collectionOf(path: string): string {
  const name = basename(path)
  if (filePart.test(name)) return nameOfPath(name.replace(filePart, ''))
  return name.replace(/(?:\.(?:gz|jsonl?|ndjson|csv|tsv|txt))+$/i, '')
}

/** The name that a path below a folder of an export stands for. */
function nameWithin(folder: string, path: string): string {
  return nameOfPath(relative(folder, path).split(sep).join('/'))
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

/** `files`: with their bytes. */
function partFaults(
  folder: string,
  { filesBytes, filesCount, part }: Metadata,
  files: readonly (readonly [path: string, bytes: number])[],
): readonly string[] {
  const own = files.filter(([path]) => Number(filePart.exec(path)?.[1]) === part)
  if (own.length !== filesCount)
    return [`${folder}: part ${part} has ${own.length} files, its metadata says ${filesCount}`]
  const bytes = own.reduce((sum, [, size]) => sum + size, 0)
  // Of compressed files it is not said which bytes were counted.
  if (filesBytes === undefined || bytes === filesBytes || own.some(([path]) => path.endsWith('.gz')))
    return []
  return [`${folder}: the files of part ${part} have ${bytes} bytes, their metadata says ${filesBytes}`]
}
