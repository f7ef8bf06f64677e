// The interface of formats, which convert the elements of a file to records.

import type { Json } from '../../values/value.ts'
import type { FieldTypes } from '../field-types.ts'
import type { Notes, RecordPlace, SourceRecord } from '../record.ts'

/** The formats of documents in JSON. A file has one format. */
export type FormatName = 'tagged' | 'simple' | 'driver' | 'driver of version 10' | 'documents' | 'rows'

export interface ElementContext {
  readonly origin: RecordPlace
  readonly notes: Notes
  readonly types: FieldTypes
  /** The collection for elements that name no collection. The user gives it, or it is the name of the file. */
  readonly collection: string
  /**
   * Returns whether the export has a collection with this name. Returns true for all names if the export does not list
   * its collections.
   */
  readonly isCollection: (name: string) => boolean
  /**
   * Returns whether a user collection with this name is known to exist. The name alone does not show this, because a
   * user collection may have the name of a native collection.
   */
  readonly isUserCollection: (name: string) => boolean
  /** True if the field `id` of a JSON row is the id of the document. If false, `id` is a field of the data. */
  readonly hasRowIds: boolean
}

/** Converts one element to a record; undefined if nothing of it is imported. Throws `BadRecord`. */
export type ReadElement = (element: Json, context: ElementContext) => SourceRecord | undefined
