// Formats convert the elements of a file to records.

import type { Json } from '../../values/value.ts'
import type { FieldTypes } from '../field-types.ts'
import type { Notes, RecordLocation, SourceRecord } from '../record.ts'

/** Formats of documents in JSON. A file has one format. */
export type FormatName = 'tagged' | 'simple' | 'driver' | 'driver of version 10' | 'documents' | 'rows'

/** The information that a format needs besides the element itself. */
export interface ElementContext {
  readonly origin: RecordLocation
  readonly notes: Notes
  readonly types: FieldTypes
  /** The collection of elements that name none: given by the user, or the name of the file. */
  readonly collection: string
  /**
   * True if the export has a collection with this name, and for all names if the export does not list its collections.
   */
  readonly isCollection: (name: string) => boolean
  /**
   * True if a user collection with this name is known to exist. The name alone does not show this, because a user
   * collection may have the name of a native collection.
   */
  readonly isUserCollection: (name: string) => boolean
  /** True: the field `id` of a JSON row is the id of the document. False: it is a field of the data. */
  readonly hasRowIds: boolean
}

/** Returns undefined if nothing of the element is imported. Throws `BadRecord`. */
export type ReadElement = (element: Json, context: ElementContext) => SourceRecord | undefined
