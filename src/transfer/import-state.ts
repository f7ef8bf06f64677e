// What an import remembers on the disk, so that it goes on where it was after any end, `kill -9` included. Losing it,
// or going on a little too early, costs time only: what was written already is found to be equal.

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
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { msPerDay } from '../base/durations.ts'
import type { ImportMemory, OpenReference } from './import-memory.ts'
import { type FilePlace, fileStart } from './read-file.ts'
import { TransferError } from './record.ts'
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

/** Work that an interrupted import may have to look at again, in milliseconds. */
const saveIntervalMs = 200
const readBytesMax = 1_048_576
/** How long an import that does not go on is remembered. */
const keptMs = 30 * msPerDay

export class ImportState implements ImportMemory {
  readonly #file: string
  readonly #referencesFile: string
  readonly #lockFile: string
  #state: StoredState = { version: 1, files: {}, references: 0, report: undefined }
  #pending: string[] = []
  #savedMs = Number.NEGATIVE_INFINITY

  /**
   * `identity`: everything that makes this import another one than others; `goesOn` where one was interrupted. Throws {@link TransferError} while the same one is
   * under way in another process.
   */
  constructor(folder: string, identity: unknown, goesOn: boolean) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    removeForgotten(folder)
    const name = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 24)
    this.#file = join(folder, `${name}.json`)
    this.#referencesFile = join(folder, `${name}.references`)
    this.#lockFile = join(folder, `${name}.lock`)
    takeLock(this.#lockFile)
    const found = goesOn ? load(this.#file) : undefined
    try {
      truncateSync(this.#referencesFile, found?.references ?? 0)
    } catch {
      // Without the list what it said is lost, so everything is looked at again.
      if (found !== undefined && found.references > 0) return
    }
    if (found !== undefined) this.#state = found
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
    this.#pending.push(`${JSON.stringify([database, from, collection, id, place])}\n`)
  }

  progress(file: SourceFile, place: FilePlace, report: ReportData): void {
    const nowMs = systemClock.elapsedMs()
    if (nowMs - this.#savedMs >= saveIntervalMs) this.save(file, place, false, report)
  }

  save({ path, bytes, modifiedMs }: SourceFile, place: FilePlace, done: boolean, report: ReportData): void {
    this.#savedMs = systemClock.elapsedMs()
    const lines = this.#pending.join('')
    this.#pending = []
    if (lines !== '') appendFileSync(this.#referencesFile, lines, { mode: 0o600 })
    this.#state.files[path] = { bytes, modifiedMs, place, done }
    const references = this.#state.references + Buffer.byteLength(lines)
    this.#state = { version: 1, files: this.#state.files, references, report }
    // Renamed over the old one, so that there is always a whole one.
    writeFileSync(`${this.#file}.new`, JSON.stringify(this.#state), { mode: 0o600 })
    renameSync(`${this.#file}.new`, this.#file)
  }

  *references(): Generator<readonly OpenReference[]> {
    // It is made with the first one.
    if (!existsSync(this.#referencesFile)) return
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

  remove(): void {
    rmSync(this.#file, { force: true })
    rmSync(this.#referencesFile, { force: true })
  }

  release(): void {
    rmSync(this.#lockFile, { force: true })
  }
}

/** Takes the lock of an import, also one whose process has ended. */
function takeLock(file: string): void {
  try {
    writeFileSync(file, String(process.pid), { mode: 0o600, flag: 'wx' })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    const holder = readFileSync(file, 'utf8')
    if (isRunning(Number(holder)))
      throw new TransferError(
        `process ${holder} is importing the same files into the same place (if it is not, remove ${file})`,
      )
    rmSync(file, { force: true })
    takeLock(file)
  }
}

function isRunning(pid: number): boolean {
  try {
    // A process with our own number was in a container that is gone.
    return pid > 0 && pid !== process.pid && process.kill(pid, 0)
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Removes what abandoned imports left behind. */
function removeForgotten(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!/^[0-9a-f]{24}\.(?:json|json\.new|references|lock)$/.test(name)) continue
    const path = join(folder, name)
    const about = statSync(path, { throwIfNoEntry: false })
    if (about !== undefined && systemClock.now() / 1000 - about.mtimeMs > keptMs)
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

function load(file: string): StoredState | undefined {
  try {
    const state = JSON.parse(readFileSync(file, 'utf8')) as StoredState
    return state.version === 1 ? state : undefined
  } catch {
    return undefined
  }
}
