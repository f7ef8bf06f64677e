// The intermediate form of documents and schema objects. The readers of all formats produce this form, and the writers
// of all targets consume it. The form contains no collection numbers. Until a document is written, its references are
// UnresolvedRefs with the name of a collection.

import type { Json, ObjectValue, SchemaKind } from '../values/value.ts'

/** The position of a record, for errors and the report. */
export interface RecordPlace {
  /**
   * The path of the file as the user entered it. If the user entered a folder, the name of the folder, followed by the
   * path of the file in this folder.
   */
  readonly file: string
  /** The line of the record's first character, counted from 1. */
  readonly line: number
  /**
   * The number of the record in its file, counted from 1, and the offset of its first byte. Present only for files in
   * which a line may contain several records.
   */
  readonly record?: number
  readonly byte?: number
}

/** `FILE:LINE`, or `FILE:LINE (record N, byte M)`. */
export function placeText({ byte, file, line, record }: RecordPlace): string {
  return `${file}:${line}${record === undefined ? '' : ` (record ${record}, byte ${byte})`}`
}

/** A version of a document. */
export interface DocumentRecord {
  readonly kind: 'document'
  /** The name of a user collection, or {@link credentialsName}. */
  readonly collection: string
  readonly id: bigint
  /** The time of the version, not yet validated. If undefined, the version gets the time at which it is written. */
  readonly ts: number | undefined
  /** True if the version belongs to the history: an older version or a deletion. */
  readonly isHistory: boolean
  /** True if this version is the deletion of the document. Only versions in a history can be deletions. */
  readonly isDelete: boolean
  /** Top-level fields in stored form: `data`, `ttl` …; for credentials `instance` and `hashed_password`. */
  readonly fields: ObjectValue
  /** Length of the source text in characters, from which the stored size is estimated. */
  readonly size: number
}

/** A document from a file. The file may contain no id for the document. */
export type SourceDocument = Omit<DocumentRecord, 'id' | 'size'> & { readonly id: bigint | undefined }

/** The kinds of schema objects, spelled as in the functions that create them. */
export type CreatedKind = SchemaKind | 'key'

export interface SchemaRecord {
  readonly kind: 'schema'
  readonly object: CreatedKind
  /** The name of the object; for a key, its id. */
  readonly name: string
  /** The parameters with which the object is created: a value in the wire form of API version 4. */
  readonly params: ReadonlyMap<string, Json>
}

export type SourceRecord = SourceDocument | SchemaRecord

/**
 * The name of the collection of password hashes. Names of user collections contain no slash, so this name is distinct.
 */
export const credentialsName = '/credentials'

/** A record, or a part of a file, that cannot be imported. The message has the reason but not the position. */
export class BadRecord extends Error {
  override name = 'BadRecord'
  /** The path to the invalid part of the record: names separated by dots. */
  readonly field: string | undefined
  constructor(reason: string, field?: string) {
    super(field === undefined ? reason : `field ${field}: ${reason}`)
    this.field = field
  }
}

/** A failure that ends an import or export. The user can fix its cause. */
export class TransferError extends Error {
  override name = 'TransferError'
}

/** Receives findings that are not errors. */
export interface Notes {
  /** A part of a document that could not be imported. */
  lost(what: string, collection: string, origin: RecordPlace): void
  /** A string that looks like a time, date or other type. The format of the file has only strings for these types. */
  lookalike(collection: string, path: string, type: string): void
}
