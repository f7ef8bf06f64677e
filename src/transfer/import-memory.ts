// The interface for the saved progress of an import, from which an interrupted import continues. Losing the progress
// only costs time: documents that were already written are found to be equal.

import type { FilePlace } from './read-file.ts'
import type { ReportData } from './report.ts'
import type { SourceFile } from './sources.ts'
import type { UnmetDocument } from './unmet-documents.ts'

/** A reference whose target did not exist when it was written. */
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
  /** The position at which to continue a file, or its start if it has changed; undefined when it is done. */
  placeOf(file: SourceFile): FilePlace | undefined
  /** Records a reference to be checked at the end; stored with the next {@link save}. */
  addReference(reference: OpenReference): void
  /** Records a document to be written again after all others; stored with the next {@link save}. */
  addUnmet(document: UnmetDocument): void
  /** Saves the progress in a file and the report. Skips most calls when they follow each other quickly. */
  progress(file: SourceFile, place: FilePlace, report: ReportData): void
  /** Saves the progress in a file and the report. */
  save(file: SourceFile, place: FilePlace, done: boolean, report: ReportData): void
  /** The recorded documents, in chunks of some thousands. */
  unmet(): Iterable<readonly UnmetDocument[]>
  /** Saves the report and the recorded references, and clears the unmet documents. */
  clearUnmet(report: ReportData): void
  /** The recorded references, in chunks of some thousands. */
  references(): Iterable<readonly OpenReference[]>
  /** Deletes the progress: the import is complete, or is not to be continued. */
  remove(): void
  /** Releases the lock, so that another process can continue. */
  release(): void
}
