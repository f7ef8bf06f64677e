// The interface for the saved progress of an import. An interrupted import continues from the saved progress. If the
// progress is lost, the import starts again. Documents that were already written are then counted as `equal`.

import type { FilePlace } from './read-file.ts'
import type { ReportData } from './report.ts'
import type { SourceFile } from './sources.ts'
import type { UnmetDocument } from './unmet-documents.ts'

/** A reference whose target did not exist when the reference was written. */
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
  /**
   * The position at which the import of `file` continues: the start if the file has changed, undefined if the file is
   * already completely imported.
   */
  placeOf(file: SourceFile): FilePlace | undefined
  /** Adds a reference that is checked at the end of the import. The next {@link save} stores it. */
  addReference(reference: OpenReference): void
  /** Adds a document that is written again after all other documents. The next {@link save} stores it. */
  addUnmet(document: UnmetDocument): void
  /** Like {@link save}, but at most one save per short interval. */
  progress(file: SourceFile, place: FilePlace, report: ReportData): void
  /** Saves the report at the start of an import, before any schema object or document is written. */
  saveReport(report: ReportData): void
  /** Saves the report and the position within `file`. */
  save(file: SourceFile, place: FilePlace, done: boolean, report: ReportData): void
  /** The documents that {@link addUnmet} has added, in chunks of some thousands. */
  unmet(): Iterable<readonly UnmetDocument[]>
  /** Saves the report and the added references, and clears the unmet documents. */
  clearUnmet(report: ReportData): void
  /** The references that {@link addReference} has added, in chunks of some thousands. */
  references(): Iterable<readonly OpenReference[]>
  /** Deletes the progress, because the import is complete or will not be continued. */
  remove(): void
  /** Releases the lock on the progress, so that another process can continue the import. */
  release(): void
}
