// What the browser remembers of an import that was interrupted, by everything that makes it that import: the service, the
// database, the file's name, size and time, and how it is read. It is forgotten when somebody signs out.

import type { ImportMemory, OpenReference } from '../../../src/transfer/import-memory.ts'
import { type FilePlace, fileStart } from '../../../src/transfer/read-file.ts'
import type { ReportData } from '../../../src/transfer/report.ts'
import type { SourceFile } from '../../../src/transfer/sources.ts'
import type { UnmetDocument } from '../../../src/transfer/unmet-documents.ts'
import { forgetOnSignOut } from '../session.ts'
import { sha256 } from './sha256.ts'

const prefix = 'terrarium-import-'
const saveEveryMs = 1000
/** Further references to documents that are not there are not looked at again in the end. */
const referencesMax = 10_000

interface StoredImport {
  readonly bytes: number
  readonly modifiedMs: number
  readonly place: FilePlace
  readonly report: ReportData
  readonly references: readonly OpenReference[]
}

/** The memory of an import; `goesOn`: what is known of an earlier attempt counts. */
export function rememberImport(identity: unknown, goesOn: boolean): ImportMemory {
  const hash = sha256(JSON.stringify(identity))
  const key = prefix + Array.from(hash.slice(0, 12), byte => byte.toString(16).padStart(2, '0')).join('')
  return new BrowserMemory(key, goesOn ? load(key) : undefined)
}

class BrowserMemory implements ImportMemory {
  readonly #key: string
  readonly #stored: StoredImport | undefined
  readonly #references: OpenReference[]
  /** Not stored: while there are some, no place after them is, and who goes on reads them again. */
  #unmet: UnmetDocument[] = []
  #savedMs = 0

  constructor(key: string, stored: StoredImport | undefined) {
    this.#key = key
    this.#stored = stored
    this.#references = [...(stored?.references ?? [])]
  }

  get report(): ReportData | undefined {
    return this.#stored?.report
  }

  placeOf({ bytes, modifiedMs }: SourceFile): FilePlace {
    const stored = this.#stored
    const isSame = stored?.bytes === bytes && stored.modifiedMs === modifiedMs
    return isSame ? stored.place : fileStart
  }

  addReference(reference: OpenReference): void {
    if (this.#references.length < referencesMax) this.#references.push(reference)
  }

  progress(file: SourceFile, place: FilePlace, report: ReportData): void {
    if (Date.now() - this.#savedMs >= saveEveryMs) this.save(file, place, false, report)
  }

  save({ bytes, modifiedMs }: SourceFile, place: FilePlace, _done: boolean, report: ReportData): void {
    if (this.#unmet.length > 0) return
    this.#savedMs = Date.now()
    const stored: StoredImport = { bytes, modifiedMs, place, report, references: this.#references }
    try {
      localStorage.setItem(this.#key, JSON.stringify(stored))
    } catch {
      // Going on later takes longer then: what was written already is found to be equal.
    }
  }

  addUnmet(document: UnmetDocument): void {
    this.#unmet.push(document)
  }

  *unmet(): Generator<readonly UnmetDocument[]> {
    if (this.#unmet.length > 0) yield this.#unmet
  }

  clearUnmet(): void {
    this.#unmet = []
  }

  *references(): Generator<readonly OpenReference[]> {
    if (this.#references.length > 0) yield this.#references
  }

  remove(): void {
    forget(key => key === this.#key)
  }

  release(): void {
    // No other tab waits for it: two tabs that import the same file write the same documents.
  }
}

function load(key: string): StoredImport | undefined {
  try {
    const stored = localStorage.getItem(key)
    // Written by this class alone.
    return stored === null ? undefined : (JSON.parse(stored) as StoredImport)
  } catch {
    return undefined
  }
}

function forget(isMeant: (key: string) => boolean): void {
  try {
    for (const key of Object.keys(localStorage).filter(isMeant)) localStorage.removeItem(key)
  } catch {
    // A browser that refuses its storage holds nothing.
  }
}

forgetOnSignOut(() => forget(key => key.startsWith(prefix)))
