// Stores the state of an interrupted import in the browser. The key is a hash of the values that identify the import:
// service, database, file name and options. Signing out deletes the state.

import type { ImportMemory, OpenReference } from '../../../src/transfer/import-memory.ts'
import { type FilePlace, fileStart } from '../../../src/transfer/read-file.ts'
import type { ReportData } from '../../../src/transfer/report.ts'
import type { SourceFile } from '../../../src/transfer/sources.ts'
import type { UnmetDocument } from '../../../src/transfer/unmet-documents.ts'
import { forgetOnSignOut } from '../session.ts'
import { sha256 } from './sha256.ts'
import { readStoredJson, store } from './storage.ts'

const prefix = 'terrarium-import-'
const saveEveryMs = 1000
/** Maximum number of references to missing documents that are checked again at the end. */
const referencesMax = 10_000

interface StoredImport {
  readonly bytes: number
  readonly modifiedMs: number
  readonly place: FilePlace
  readonly report: ReportData
  readonly references: readonly OpenReference[]
}

/** If `continues` is true, the import starts from the stored state of an earlier attempt. */
export function rememberImport(identity: unknown, continues: boolean): ImportMemory {
  const hash = sha256(JSON.stringify(identity))
  const key = prefix + Array.from(hash.slice(0, 12), byte => byte.toString(16).padStart(2, '0')).join('')
  // Only `BrowserMemory` writes the stored text, so it has this shape.
  return new BrowserMemory(key, continues ? readStoredJson<StoredImport>('localStorage', key) : undefined)
}

class BrowserMemory implements ImportMemory {
  readonly #key: string
  readonly #stored: StoredImport | undefined
  readonly #references: OpenReference[]
  /**
   * Documents that failed the checks of their collection; in memory only. While this list is not empty, no later place
   * in the file is stored, so a continued import reads these documents again.
   */
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

  saveReport(): void {
    // A file that the dashboard imports has no schema, so there is nothing to continue before its first document.
  }

  save({ bytes, modifiedMs }: SourceFile, place: FilePlace, _done: boolean, report: ReportData): void {
    if (this.#unmet.length > 0) return
    this.#savedMs = Date.now()
    const stored: StoredImport = { bytes, modifiedMs, place, report, references: this.#references }
    // Without storage, a continued import starts again, and counts the documents that were already written as equal.
    store('localStorage', this.#key, JSON.stringify(stored))
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
    store('localStorage', this.#key, undefined)
  }

  release(): void {
    // There is no lock: two tabs that import the same file write the same documents.
  }
}

forgetOnSignOut(() => {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(prefix)) localStorage.removeItem(key)
  } catch {
    // Without storage there is nothing to delete.
  }
})
