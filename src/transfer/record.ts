// The intermediate form of documents and schema objects, which the readers of all formats produce and the writers of
// all targets consume. It contains no collection numbers: until a document is written, its references are
// UnresolvedRefs with the name of a collection.

import type { Json, ObjectValue, SchemaKind } from '../values/value.ts'

/** Locates a record in a file, for errors and the report. */
export interface RecordLocation {
  /**
   * Path of the file as the user entered it. If the user entered a folder, its name, followed by the path of the file
   * in it.
   */
  readonly file: string
  /** Line of the record's first character, from 1. */
  readonly line: number
  /**
   * Number of the record in its file, from 1, and offset of its first byte. Present only for files in which a line may
   * contain several records.
   */
  readonly record?: number
  readonly byte?: number
}

/** `FILE:LINE`, or `FILE:LINE (record N, byte M)`. */
export function locationText({ byte, file, line, record }: RecordLocation): string {
  return `${file}:${line}${record === undefined ? '' : ` (record ${record}, byte ${byte})`}`
}

/** A version of a document. */
export interface DocumentRecord {
  readonly kind: 'document'
  /** A user collection, or {@link credentialsName}. */
  readonly collection: string
  readonly id: bigint
  /** Not yet validated. If undefined, the version gets the time at which it is written. */
  readonly ts: number | undefined
  /** True for an older version or a deletion. */
  readonly isHistory: boolean
  /** True for the deletion of the document. Only versions in a history can be deletions. */
  readonly isDelete: boolean
  /** Fields in stored form: `data`, `ttl` …; for credentials `instance` and `hashed_password`. */
  readonly fields: ObjectValue
  /** Length of the source text in characters, from which the stored size is estimated. */
  readonly size: number
}

/** The file may contain no id for the document. */
export type SourceDocument = Omit<DocumentRecord, 'id' | 'size'> & { readonly id: bigint | undefined }

/** Schema objects, spelled as in the functions that create them. */
export type CreatedKind = SchemaKind | 'key'

export interface SchemaRecord {
  readonly kind: 'schema'
  readonly object: CreatedKind
  /** Name of the object; for a key, its id. */
  readonly name: string
  /** The values with which the object is created, in the wire form of API version 4. */
  readonly params: ReadonlyMap<string, Json>
}

export type SourceRecord = SourceDocument | SchemaRecord

/** Collection of password hashes. Names of user collections contain no slash, so this name is distinct. */
export const credentialsName = '/credentials'

/** A record, or a part of a file, that cannot be imported. The message has the reason but not the file and the line. */
export class BadRecord extends Error {
  override name = 'BadRecord'
  /** Path to the invalid part of the record: names separated by dots. */
  readonly field: string | undefined
  constructor(reason: string, field?: string) {
    super(field === undefined ? reason : `field ${field}: ${reason}`)
    this.field = field
  }
}

/** Ends an import or export. The user can fix its cause. */
export class TransferError extends Error {
  override name = 'TransferError'
}

/** Receives findings that are not errors. */
export interface Notes {
  /** A part of a document that could not be imported. */
  lost(what: string, collection: string, origin: RecordLocation): void
  /** A string that looks like a time, date or other type, in a format that has only strings for these types. */
  lookalike(collection: string, path: string, type: string): void
}
