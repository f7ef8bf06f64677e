// The saved progress of an import, from which an interrupted import continues. If it is lost, the import starts again,
// and counts documents that were already written as `equal`.

import type { FilePlace } from './read-file.ts'
import type { ReportData } from './report.ts'
import type { SourceFile } from './sources.ts'
import type { UnmetDocument } from './unmet-documents.ts'

/** A reference whose target did not exist when the reference was written. */
export interface OpenReference {
  readonly database: readonly string[]
  /** Collection of the document with the reference, as the report shows it. */
  readonly from: string
  readonly collection: string
  readonly id: string
  /** Location of the document with the reference: file and line. */
  readonly place: string
}

export interface ImportMemory {
  /** Undefined at the start of an import. */
  readonly report: ReportData | undefined
  /**
   * Where the import of `file` continues: the start if the file has changed, undefined if the file is already
   * completely imported.
   */
  placeOf(file: SourceFile): FilePlace | undefined
  /** Adds a reference that is checked at the end of the import. The next {@link save} stores it. */
  addReference(reference: OpenReference): void
  /** Adds a document that is written again after all others. The next {@link save} stores it. */
  addUnmet(document: UnmetDocument): void
  /** Like {@link save}, but at most one save per short interval. */
  progress(file: SourceFile, place: FilePlace, report: ReportData): void
  /** Called before any schema object or document is written. */
  saveReport(report: ReportData): void
  /** `place`: where an interrupted import continues in `file`. */
  save(file: SourceFile, place: FilePlace, done: boolean, report: ReportData): void
  /** Yields chunks of some thousands. */
  unmet(): Iterable<readonly UnmetDocument[]>
  /** Saves the report and the added references, and clears the unmet documents. */
  clearUnmet(report: ReportData): void
  /** Yields chunks of some thousands. */
  references(): Iterable<readonly OpenReference[]>
  /** Called when the import is complete or will not be continued. */
  remove(): void
  /** Releases the lock on the progress, so that another process can continue the import. */
  release(): void
}
