// What the readers of all formats make of a file, and the writers of all targets take: documents and schema objects
// in one neutral form. Nothing here knows numbers of collections: references are by name, as UnresolvedRefs, until a
// document is written.

import type { Json, ObjectValue, SchemaKind } from '../values/value.ts'

/** Where something stands: for errors and the report. */
export interface RecordPlace {
  /** The file as the user named it, or as it was found below a folder that the user named. */
  readonly file: string
  /** From 1; of the first character of what is meant. */
  readonly line: number
  /** Where lines do not tell records apart: which one of the file it is, from 1, and its first byte. */
  readonly record?: number
  readonly byte?: number
}

/** `FILE:LINE`, or `FILE:LINE (record N, byte M)`. */
export function placeText({ byte, file, line, record }: RecordPlace): string {
  return `${file}:${line}${record === undefined ? '' : ` (record ${record}, byte ${byte})`}`
}

/** One version of a document. */
export interface DocumentRecord {
  readonly kind: 'document'
  /** The name of a user collection, or {@link credentialsName}. */
  readonly collection: string
  readonly id: bigint
  /** The time of the version; undefined for the time at which it is written. Whatever the file says. */
  readonly ts: number | undefined
  /** An older version, to be put behind the present one. */
  readonly isHistory: boolean
  /** The document ended with this version; only in a history. */
  readonly isDelete: boolean
  /** Top-level fields as they are stored: `data`, `ttl` …; for credentials `instance` and `hashed_password`. */
  readonly fields: ObjectValue
  /** Characters of the text it was read from: no less than the bytes it takes in the store, roughly. */
  readonly size: number
}

/** A document of a format that may come without an id. */
export type FoundDocument = Omit<DocumentRecord, 'id' | 'size'> & { readonly id: bigint | undefined }

/** The kinds of schema objects, as the functions that create them are spelled. */
export type CreatedKind = SchemaKind | 'key'

export interface SchemaRecord {
  readonly kind: 'schema'
  readonly object: CreatedKind
  /** The name of the object; of a key its id. */
  readonly name: string
  /** What it is created from: a value in the wire form of API version 4. */
  readonly params: ReadonlyMap<string, Json>
}

export type FoundRecord = FoundDocument | SchemaRecord

/** The collection of password hashes. No user collection has a slash in its name. */
export const credentialsName = '/credentials'

/** A record, or a part of a file, that cannot be imported. The message says why, without the place in the file. */
export class BadRecord extends Error {
  override name = 'BadRecord'
  /** The names that lead to the part of the record that is meant, with points in between. */
  readonly field: string | undefined
  constructor(reason: string, field?: string) {
    super(field === undefined ? reason : `field ${field}: ${reason}`)
    this.field = field
  }
}

/** A failure that ends an import or export: the user's to fix. The message is complete. */
export class TransferError extends Error {
  override name = 'TransferError'
}

/** What readers notice beside the records. */
export interface Notes {
  /** Something of a document that could not be kept. */
  lost(what: string, collection: string, origin: RecordPlace): void
  /** A text that looks like a time, date or other value, in a format that cannot tell. */
  lookalike(collection: string, path: string, type: string): void
}
