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
  /** The collection for elements that name none. The user gives the collection, or the file has its name. */
  readonly collection: string
  /** Returns whether a name is that of a collection in the export; true for all names when the export does not list them. */
  readonly isCollection: (name: string) => boolean
  /** Returns whether a name that looks native is known to belong to a user collection. */
  readonly isUserCollection: (name: string) => boolean
  /** True if the field `id` of a JSON row is the id of the document; otherwise `id` is a field of the data. */
  readonly hasRowIds: boolean
}

/** Converts one element to records. Throws `BadRecord`. */
export type ReadElement = (element: Json, context: ElementContext) => readonly SourceRecord[]
