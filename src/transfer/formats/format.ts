// What a format is: a way to make records of the elements of a file.

import type { Json } from '../../values/value.ts'
import type { FieldTypes } from '../field-types.ts'
import type { FoundRecord, Notes, RecordPlace } from '../record.ts'

/** The formats of documents in JSON; each file has one. */
export type FormatName = 'tagged' | 'simple' | 'driver' | 'driver of version 10' | 'documents' | 'rows'

/** What a format knows beside the element itself. */
export interface ElementContext {
  readonly origin: RecordPlace
  readonly notes: Notes
  readonly types: FieldTypes
  /** The collection of what does not say it itself: by the name of the file, or as the user says. */
  readonly collection: string
  /** Whether a name is that of a collection of the export that is read; where that does not say, of any. */
  readonly isCollection: (name: string) => boolean
  /** Whether a name is known to be that of a user's collection, though it looks like a native one. */
  readonly isUserCollection: (name: string) => boolean
}

/** Makes records of one element. Throws `BadRecord`. */
export type ReadElement = (element: Json, context: ElementContext) => readonly FoundRecord[]
