// What an import remembers on the disk, so that it goes on where it was after any end, `kill -9` included. Losing it,
// or going on a little too early, costs time only: what was written already is found to be equal.

import { createHash } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { type FilePlace, fileStart } from './read-file.ts'
import type { ReportData } from './report.ts'
import type { SourceFile } from './sources.ts'

interface StoredState {
  readonly version: 1
  /** By path: how far each file has been imported. */
  readonly files: Record<
    string,
    { readonly bytes: number; readonly modifiedMs: number; readonly place: FilePlace; readonly done: boolean }
  >
  /** Bytes of the list of references that count. */
  readonly references: number
  readonly report: ReportData | undefined
}

/** A reference whose target was not there when it was written. */
interface OpenReference {
  readonly database: readonly string[]
  readonly from: string
  readonly collection: string
  readonly id: string
  readonly place: string
}

/** Work that an interrupted import may have to look at again, in milliseconds. */
const saveIntervalMs = 200
const readBytesMax = 1_048_576

export class ImportState {
  readonly #file: string
  readonly #referencesFile: string
  #state: StoredState = { version: 1, files: {}, references: 0, report: undefined }
  #pending: string[] = []
  #savedMs = Number.NEGATIVE_INFINITY

  /** `identity`: everything that makes this import another one than others. */
  constructor(folder: string, identity: unknown) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const name = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 24)
    this.#file = join(folder, `${name}.json`)
    this.#referencesFile = join(folder, `${name}.references`)
    const found = load(this.#file)
    if (found !== undefined) this.#state = found
    try {
      truncateSync(this.#referencesFile, this.#state.references)
    } catch {
      writeFileSync(this.#referencesFile, '', { mode: 0o600 })
      // Without the list what it said is lost, so everything is looked at again.
      if (this.#state.references > 0)
        this.#state = { version: 1, files: {}, references: 0, report: undefined }
    }
  }

  /** The report so far; undefined at the start of an import. */
  get report(): ReportData | undefined {
    return this.#state.report
  }

  /** Where to go on with a file: at its start when it has changed since. Undefined: it is done. */
  placeOf({ path, bytes, modifiedMs }: SourceFile): FilePlace | undefined {
    const known = this.#state.files[path]
    if (known === undefined || known.bytes !== bytes || known.modifiedMs !== modifiedMs) return fileStart
    return known.done ? undefined : known.place
  }

  /** Notes a reference to be looked at in the end; kept with the next {@link save}. */
  addReference({ collection, database, from, id, place }: OpenReference): void {
    this.#pending.push(`${JSON.stringify([database, from, collection, id, place])}\n`)
  }

  /** Remembers how far a file has come, and the report up to there; not at every step when they are quick. */
  progress(file: SourceFile, place: FilePlace, report: ReportData): void {
    const nowMs = systemClock.elapsedMs()
    if (nowMs - this.#savedMs >= saveIntervalMs) this.save(file, place, false, report)
  }

  /** Remembers how far a file has come, and the report up to there. */
  save({ path, bytes, modifiedMs }: SourceFile, place: FilePlace, done: boolean, report: ReportData): void {
    this.#savedMs = systemClock.elapsedMs()
    const lines = this.#pending.join('')
    this.#pending = []
    if (lines !== '') appendFileSync(this.#referencesFile, lines)
    this.#state.files[path] = { bytes, modifiedMs, place, done }
    const references = this.#state.references + Buffer.byteLength(lines)
    this.#state = { version: 1, files: this.#state.files, references, report }
    // Renamed over the old one, so that there is always a whole one.
    writeFileSync(`${this.#file}.new`, JSON.stringify(this.#state), { mode: 0o600 })
    renameSync(`${this.#file}.new`, this.#file)
  }

  /** The references noted, some thousands at a time. */
  *references(): Generator<readonly OpenReference[]> {
    const file = openSync(this.#referencesFile, 'r')
    try {
      const buffer = Buffer.alloc(readBytesMax)
      let rest = ''
      for (;;) {
        const length = readSync(file, buffer)
        if (length === 0) break
        const lines = (rest + buffer.toString('latin1', 0, length)).split('\n')
        rest = lines.pop() ?? ''
        yield lines.map(line => readReference(Buffer.from(line, 'latin1').toString()))
      }
    } finally {
      closeSync(file)
    }
  }

  /** Forgets everything: the import is done. */
  remove(): void {
    rmSync(this.#file, { force: true })
    rmSync(this.#referencesFile, { force: true })
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

function load(file: string): StoredState | undefined {
  try {
    const state = JSON.parse(readFileSync(file, 'utf8')) as StoredState
    return state.version === 1 ? state : undefined
  } catch {
    return undefined
  }
}
