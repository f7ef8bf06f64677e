// What an import remembers so that it goes on where it was interrupted, wherever that is kept. Losing it costs time only:
// what was written already is found to be equal.

import type { FilePlace } from './read-file.ts'
import type { ReportData } from './report.ts'
import type { SourceFile } from './sources.ts'
import type { UnmetDocument } from './unmet-documents.ts'

/** A reference whose target was not there when it was written. */
export interface OpenReference {
  readonly database: readonly string[]
  readonly from: string
  readonly collection: string
  readonly id: string
  readonly place: string
}

export interface ImportMemory {
  /** The report so far; undefined at the start of an import. */
  readonly report: ReportData | undefined
  /** Where to go on with a file: at its start when it has changed since. Undefined: it is done. */
  placeOf(file: SourceFile): FilePlace | undefined
  /** Notes a reference to be looked at in the end; kept with the next {@link save}. */
  addReference(reference: OpenReference): void
  /** Notes a document to be written again when everything is read; kept with the next {@link save}. */
  addUnmet(document: UnmetDocument): void
  /** Remembers how far a file has come, and the report up to there; not at every step when they are quick. */
  progress(file: SourceFile, place: FilePlace, report: ReportData): void
  /** Remembers how far a file has come, and the report up to there. */
  save(file: SourceFile, place: FilePlace, done: boolean, report: ReportData): void
  /** The documents noted, some thousands at a time. */
  unmet(): Iterable<readonly UnmetDocument[]>
  /** Keeps what was noted and the report; nothing is unmet any more. */
  settleUnmet(report: ReportData): void
  /** The references noted, some thousands at a time. */
  references(): Iterable<readonly OpenReference[]>
  /** Forgets everything: the import is done, or is none to go on with. */
  remove(): void
  /** Lets another process go on. */
  release(): void
}
