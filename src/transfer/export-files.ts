// Writes the data files of an export: numbered files for each collection, which may be compressed. When a file reaches
// a certain size, the next one begins.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { PassThrough, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

export interface FileOptions {
  /** `json`: one array without line breaks. `jsonl`: one document per line. `csv`: a header, and a row per document. */
  readonly fileFormat: 'json' | 'jsonl' | 'csv'
  readonly gzip: boolean
}

/** Uncompressed bytes after which the next file begins, as the export format defines. */
const fileBytesMax = 134_217_728

/** A collection without documents gets no file. */
export class CollectionFiles {
  readonly #folder: string
  readonly #name: string
  readonly #options: FileOptions
  readonly #header: string
  #ordinal = 0
  #path = ''
  #output: Transform | undefined
  /** Resolves when the open file is completely written; rejects when writing fails. */
  #end: Promise<void> = Promise.resolve()
  #bytes = 0
  /** Closed files, and their total size on disk. */
  readonly written = { files: 0, bytes: 0 }

  /**
   * `path`: the collection's folder below `parent`, whose last segment is the base name of the files. `header`: first
   * line of each CSV file, with its line break.
   */
  constructor(parent: string, path: string, options: FileOptions, header = '') {
    this.#folder = join(parent, path)
    this.#name = basename(path)
    this.#options = options
    this.#header = header
  }

  /** Each text is the JSON of one document, or a row of a CSV file. */
  async add(texts: readonly string[]): Promise<void> {
    const { fileFormat } = this.#options
    const isArray = fileFormat === 'json'
    const end = fileFormat === 'jsonl' ? '\n' : ''
    let chunk = ''
    for (const text of texts) {
      if (this.#output === undefined) await this.#open()
      const isFirst = this.#bytes === 0
      const before = isArray ? (isFirst ? '[' : ',') : isFirst ? this.#header : ''
      const piece = `${before}${text}${end}`
      chunk += piece
      this.#bytes += Buffer.byteLength(piece)
      if (this.#bytes < fileBytesMax) continue
      await this.#write(chunk)
      chunk = ''
      await this.close()
    }
    if (chunk !== '') await this.#write(chunk)
  }

  async #write(chunk: string): Promise<void> {
    const output = this.#output as Transform
    if (!output.write(chunk)) await Promise.race([once(output, 'drain'), this.#end])
  }

  async #open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    const { fileFormat, gzip } = this.#options
    const ordinal = String(this.#ordinal++).padStart(6, '0')
    this.#path = join(this.#folder, `${this.#name}_00_${ordinal}.${fileFormat}${gzip ? '.gz' : ''}`)
    const file = createWriteStream(this.#path, { flags: 'wx', mode: 0o600, flush: true })
    this.#output = gzip ? createGzip() : new PassThrough()
    this.#end = pipeline(this.#output, file)
    // Prevents an unhandled rejection. The next call of `add` or `close` throws the error.
    this.#end.catch(() => undefined)
    this.#bytes = 0
  }

  async close(): Promise<void> {
    const output = this.#output
    if (output === undefined) return
    output.end(this.#options.fileFormat === 'json' ? ']' : '')
    await this.#end
    this.#output = undefined
    this.written.files++
    this.written.bytes += (await stat(this.#path)).size
  }
}
