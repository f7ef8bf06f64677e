// The interface of formats, which convert the elements of a file to records.

import type { Json } from '../../values/value.ts'
import type { FieldTypes } from '../field-types.ts'
import type { Notes, RecordPlace, SourceRecord } from '../record.ts'

/** The formats of documents in JSON. A file has one format. */
export type FormatName = 'tagged' | 'simple' | 'driver' | 'driver of version 10' | 'documents' | 'rows'

/** The context of an element. */
export interface ElementContext {
  readonly origin: RecordPlace
  readonly notes: Notes
  readonly types: FieldTypes
  /** The collection of elements without a collection name: given by the user, or the name of the file. */
  readonly collection: string
  /**
   * Returns whether the export has a collection with this name. Returns true for all names if the export does not list
   * its collections.
   */
  readonly isCollection: (name: string) => boolean
  /** Returns whether the user collection `name` is known to exist. A native collection may have an equal name. */
  readonly isUserCollection: (name: string) => boolean
  /** True if the field `id` of a JSON row is the id of the document. If false, `id` is a field of the data. */
  readonly hasRowIds: boolean
}

/** Converts one element to records. Throws `BadRecord`. */
export type ReadElement = (element: Json, context: ElementContext) => readonly SourceRecord[]
