// Finds the files of an import: files and folders that the user named. Detects the format of each file, and checks
// whether an export is complete according to its metadata.

import type { Stats } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import type { DatabasePath } from './connection.ts'
import { type Content, detectContent } from './detect-content.ts'
import { diskSource } from './disk-source.ts'
import { isPiece, nameOfPath } from './export-paths.ts'
import type { ByteSource } from './input.ts'
import { TransferError } from './record.ts'

/** A file to be imported, with its detected format and encoding. */
export interface SourceFile {
  readonly path: string
  readonly source: ByteSource
  /** Label of the file's encoding. */
  readonly encoding: string
  /** The path that messages show. */
  readonly shown: string
  /** Size on disk. */
  readonly bytes: number
  readonly modifiedMs: number
  readonly content: Content
  /** Path below the target database of the import. */
  readonly database: DatabasePath
  /** Name from an option or from the file's name, for formats whose documents contain no collection name. */
  readonly collection: string
  /** Name in the database. Undefined for files that are not schema files of an export. */
  readonly schemaName?: string | undefined
}

export interface Sources {
  readonly files: readonly SourceFile[]
  /** The child databases of an export, outermost first. */
  readonly databases: readonly DatabasePath[]
  /** Collections that the metadata of an export list. */
  readonly collections: readonly { readonly database: DatabasePath; readonly name: string }[]
  /** Contradictions between the metadata and the files of an export, each as a sentence. */
  readonly incomplete: readonly string[]
  /** Files without importable content. */
  readonly passedOver: readonly string[]
  /** Metadata of an export was found. The export may be empty. */
  readonly isExport: boolean
}

interface SourceOptions {
  /**
   * For formats whose documents contain no collection name. If undefined, the name of the file defines the collection.
   */
  readonly collection?: string | undefined
  /** Label of the encoding of files that are not UTF-8. */
  readonly encoding?: string | undefined
}

/** Throws {@link TransferError} for a path that does not exist. */
export async function findSources(paths: readonly string[], options: SourceOptions = {}): Promise<Sources> {
  const finder = new Finder(options)
  for (const path of paths) await finder.add(path)
  return finder.found
}

const metadataName = /^metadata_[0-9]+\.json$/

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
  /** Sizes of files on disk, by path. */
  readonly #seen = new Map<string, number>()
  /** The schema folder of an export, while its files are added. */
  #schema: string | undefined
  /** Real paths of the enclosing folders. A link to an enclosing folder would cause an endless recursion. */
  readonly #enclosing: string[] = []

  constructor(options: SourceOptions) {
    this.#options = options
  }

  async add(path: string): Promise<void> {
    const about = await stat(path).catch(() => undefined)
    if (about === undefined) throw new TransferError(`${path} does not exist`)
    if (about.isDirectory()) await this.#folder(path, path, [])
    else if (about.isFile()) await this.#file(path, path, [])
    else throw new TransferError(`${path} is not a file; write the output of a pipe to a file first`)
  }

  async #folder(folder: string, top: string, database: DatabasePath): Promise<void> {
    const real = await realpath(folder)
    if (this.#enclosing.includes(real)) return
    this.#enclosing.push(real)
    const names = (await readdir(folder)).filter(name => !name.startsWith('.')).sort()
    const about = new Map<string, Stats | undefined>()
    // `stat` follows links.
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
    this.#enclosing.pop()
  }

  /** The path of a schema file below `folder` encodes the file's name in the database. */
  async #schemaFolder(folder: string, top: string, database: DatabasePath): Promise<void> {
    this.#schema = folder
    await this.#folder(folder, top, database)
    this.#schema = undefined
  }

  /** Each child database of an export has a folder below `all`. A long name is split into several nested folders. */
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
    const { content, encoding } = await detectContent(source, this.#options.encoding)
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

/**
 * The end of a data file's name, such as `_00_000001.json`: number of a part of the export, then number of the file in
 * this part.
 */
const filePart = /_([0-9]{2,})_[0-9]{6}\.(?:jsonl?|csv)(?:\.gz)?$/

/** Derives the collection from the name of a file. */
function collectionOf(path: string): string {
  const name = basename(path)
  if (filePart.test(name)) return nameOfPath(name.replace(filePart, ''))
  return name.replace(/(?:\.(?:gz|jsonl?|ndjson|csv|tsv|txt))+$/i, '')
}

/** The original name that the path of a file below `folder` encodes. */
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

/** Maximum size of an export's metadata file, which is read into memory. */
const metadataBytesMax = 16_777_216
/** Maximum number of parts of an export. */
const partsMax = 10_000

async function readMetadata(path: string): Promise<Metadata> {
  try {
    if ((await stat(path)).size > metadataBytesMax) throw new RangeError()
    const json = JSON.parse(await readFile(path, 'utf8')) as Readonly<Record<string, unknown>>
    const {
      part = 0,
      total_parts: totalParts = 1,
      files_count: filesCount,
      files_bytes: filesBytes,
      collections,
    } = json
    const isWhole =
      Number.isInteger(part) &&
      Number.isInteger(totalParts) &&
      (totalParts as number) <= partsMax &&
      Number.isInteger(filesCount)
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
    // The error is thrown below.
  }
  throw new TransferError(`${path}: this is not the metadata of an export, or it is damaged`)
}

/**
 * Contradictions between the metadata of a part and its files. `files`: the path and the size in bytes of each file of
 * all parts.
 */
function partFaults(
  folder: string,
  { filesBytes, filesCount, part }: Metadata,
  files: readonly (readonly [path: string, bytes: number])[],
): readonly string[] {
  const own = files.filter(([path]) => Number(filePart.exec(path)?.[1]) === part)
  if (own.length !== filesCount)
    return [`${folder}: part ${part} has ${own.length} files, its metadata says ${filesCount}`]
  const bytes = own.reduce((sum, [, size]) => sum + size, 0)
  // For compressed files, the export may have counted compressed or uncompressed bytes.
  if (filesBytes === undefined || bytes === filesBytes || own.some(([path]) => path.endsWith('.gz')))
    return []
  return [`${folder}: the files of part ${part} have ${bytes} bytes, their metadata says ${filesBytes}`]
}
