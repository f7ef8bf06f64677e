// The progress of an import on disk, so that it can continue after any crash, including `kill -9`. If the stored
// progress is lost or slightly too old, the import repeats some work, but writes no document twice.

import { createHash } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { takeLock } from '../base/lock-file.ts'
import { msPerDay } from '../base/micros.ts'
import { replaceFile } from '../base/text-file.ts'
import type { ImportMemory, OpenReference } from './import-memory.ts'
import { type FilePlace, fileStart } from './read-file.ts'
import { TransferError } from './record.ts'
import { readRecord, recordText } from './record-text.ts'
import type { ReportData } from './report.ts'
import type { SourceFile } from './sources.ts'
import type { UnmetDocument } from './unmet-documents.ts'

interface StoredState {
  readonly version: 1
  /** Files by path. */
  readonly files: Record<
    string,
    { readonly bytes: number; readonly modifiedMs: number; readonly place: FilePlace; readonly done: boolean }
  >
  /** Valid bytes of the file of open references (see `OpenReference`). */
  readonly references: number
  /** Valid bytes of the file of unmet documents (which failed a check); absent when there are none. */
  readonly unmet?: number
  readonly report: ReportData | undefined
}

/** Milliseconds between two saves. An interrupted import may repeat the work since the last save. */
const saveIntervalMs = 200
const readBytesMax = 1_048_576
/** Milliseconds after which the files of an abandoned import are removed. */
const abandonedMs = 30 * msPerDay

/** Append-only. Appended lines are valid once the state contains the new length. */
class LineFile {
  readonly #path: string
  #pending: string[] = []

  constructor(path: string) {
    this.#path = path
  }

  /** Truncates the file to its valid length. Returns false if valid bytes are missing. */
  cutTo(bytes: number): boolean {
    try {
      // `truncateSync` would extend a shorter file with zeros.
      if (statSync(this.#path).size < bytes) return false
      truncateSync(this.#path, bytes)
      return true
    } catch {
      return bytes === 0
    }
  }

  add(line: string): void {
    this.#pending.push(`${line}\n`)
  }

  /** Writes the appended lines; returns the number of bytes. */
  flush(): number {
    const lines = this.#pending.join('')
    this.#pending = []
    if (lines !== '') appendFileSync(this.#path, lines, { mode: 0o600 })
    return Buffer.byteLength(lines)
  }

  *chunks(): Generator<readonly string[]> {
    // A file without lines does not exist on disk.
    if (!existsSync(this.#path)) return
    const file = openSync(this.#path, 'r')
    try {
      const buffer = Buffer.alloc(readBytesMax)
      let rest = ''
      for (;;) {
        const length = readSync(file, buffer)
        if (length === 0) break
        // Latin-1 keeps the bytes of a character that continues in the next chunk.
        const lines = (rest + buffer.toString('latin1', 0, length)).split('\n')
        rest = lines.pop() ?? ''
        yield lines.map(line => Buffer.from(line, 'latin1').toString())
      }
    } finally {
      closeSync(file)
    }
  }

  remove(): void {
    rmSync(this.#path, { force: true })
  }
}

export class ImportState implements ImportMemory {
  readonly #file: string
  readonly #references: LineFile
  readonly #unmet: LineFile
  readonly #releaseLock: () => void
  #state: StoredState = { version: 1, files: {}, references: 0, report: undefined }
  #savedMs = Number.NEGATIVE_INFINITY

  /**
   * `identity`: values that distinguish this import from others. `continues`: whether to continue an interrupted
   * import. Throws {@link TransferError} while another process runs the same import.
   */
  constructor(folder: string, identity: unknown, continues: boolean) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    removeAbandoned(folder)
    const name = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 24)
    this.#file = join(folder, `${name}.json`)
    this.#references = new LineFile(join(folder, `${name}.references`))
    this.#unmet = new LineFile(join(folder, `${name}.unmet`))
    this.#releaseLock = lockImport(folder, name)
    const found = continues ? load(this.#file) : undefined
    const isWhole = this.#references.cutTo(found?.references ?? 0) && this.#unmet.cutTo(found?.unmet ?? 0)
    if (found !== undefined && isWhole) {
      this.#state = found
      return
    }
    // If the file of references or of unmet documents is incomplete, the import starts from the beginning.
    this.#references.cutTo(0)
    this.#unmet.cutTo(0)
  }

  get report(): ReportData | undefined {
    return this.#state.report
  }

  placeOf({ path, bytes, modifiedMs }: SourceFile): FilePlace | undefined {
    const known = this.#state.files[path]
    if (known === undefined || known.bytes !== bytes || known.modifiedMs !== modifiedMs) return fileStart
    return known.done ? undefined : known.place
  }

  addReference({ collection, database, from, id, place }: OpenReference): void {
    this.#references.add(JSON.stringify([database, from, collection, id, place]))
  }

  addUnmet({ database, origin, reason, record }: UnmetDocument): void {
    this.#unmet.add(JSON.stringify([database, origin, reason, recordText(record)]))
  }

  progress(file: SourceFile, place: FilePlace, report: ReportData): void {
    const nowMs = systemClock.elapsedMs()
    if (nowMs - this.#savedMs >= saveIntervalMs) this.save(file, place, false, report)
  }

  saveReport(report: ReportData): void {
    this.#saveState(this.#state.unmet ?? 0, report)
  }

  save({ path, bytes, modifiedMs }: SourceFile, place: FilePlace, done: boolean, report: ReportData): void {
    this.#savedMs = systemClock.elapsedMs()
    this.#state.files[path] = { bytes, modifiedMs, place, done }
    this.#saveState((this.#state.unmet ?? 0) + this.#unmet.flush(), report)
  }

  clearUnmet(report: ReportData): void {
    this.#saveState(0, report)
    this.#unmet.cutTo(0)
  }

  #saveState(unmetBytes: number, report: ReportData): void {
    const references = this.#state.references + this.#references.flush()
    this.#state = { version: 1, files: this.#state.files, references, unmet: unmetBytes, report }
    replaceFile(this.#file, JSON.stringify(this.#state))
  }

  *references(): Generator<readonly OpenReference[]> {
    for (const lines of this.#references.chunks()) yield lines.map(readReference)
  }

  *unmet(): Generator<readonly UnmetDocument[]> {
    for (const lines of this.#unmet.chunks()) yield lines.map(readUnmet)
  }

  remove(): void {
    rmSync(this.#file, { force: true })
    this.#references.remove()
    this.#unmet.remove()
  }

  release(): void {
    this.#releaseLock()
  }
}

/** Returns the function that releases the lock. */
function lockImport(folder: string, name: string): () => void {
  const outcome = takeLock({ folder, name })
  if ('release' in outcome) return outcome.release
  const { file, holder } = outcome
  throw new TransferError(
    `process ${holder} is importing the same files into the same place (if it is not, remove ${file})`,
  )
}

function removeAbandoned(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!/^[0-9a-f]{24}\.(?:json|json\.new|references|unmet|lock|\d+\.lock)$/.test(name)) continue
    const path = join(folder, name)
    const about = statSync(path, { throwIfNoEntry: false })
    if (about !== undefined && systemClock.now() / 1000 - about.mtimeMs > abandonedMs)
      rmSync(path, { force: true })
  }
}

function readReference(line: string): OpenReference {
  const [database, from, collection, id, place] = JSON.parse(line) as [
    string[],
    string,
    string,
    string,
    string,
  ]
  return { database, from, collection, id, place }
}

function readUnmet(line: string): UnmetDocument {
  const [database, origin, reason, text] = JSON.parse(line) as [
    string[],
    UnmetDocument['origin'],
    string,
    string,
  ]
  return { database, origin, reason, record: readRecord(text) }
}

function load(file: string): StoredState | undefined {
  try {
    const state = JSON.parse(readFileSync(file, 'utf8')) as StoredState
    return state.version === 1 ? state : undefined
  } catch {
    return undefined
  }
}
