// What a kind of document is made of: its fields, their types and rules. One file per kind declares a Resource;
// the pipeline in write.ts is the same for all.

import type { Failure } from '../../errors.ts'
import type { Version } from '../../store/contract.ts'
import {
  isArray,
  isObject,
  Lambda,
  LocalDate,
  type ObjectValue,
  Ref,
  Time,
  TransactionTime,
  Uuid,
  type Value,
} from '../../values/value.ts'
import type { Call } from '../definition.ts'

/** `history` is a version written into the past. */
export type WriteMode = 'create' | 'update' | 'replace' | 'history'

/** A document on its way into the store. */
export interface Draft {
  readonly mode: WriteMode
  readonly ref: Ref
  /** The live version before, for updates and replaces. */
  readonly previous: Version | undefined
  /** What the client gave, without unknown fields. */
  readonly patch: ObjectValue
  /** The merged fields that will be stored; {@link Resource.complete} may change them. */
  readonly fields: Map<string, Value>
  /** Everything that is wrong with it. */
  readonly failures: Failure[]
  /** Fields that only this response shows, such as a new secret. */
  readonly shown: Map<string, Value>
  /** Stored fields that this response leaves out. */
  readonly omitted: Set<string>
  readonly call: Call
}

/** Checks a value found at `path`; returns what is wrong. */
export type FieldCheck = (value: Value, path: readonly string[]) => readonly Failure[]

/** What is known of a field. */
export interface FieldSpec {
  readonly check: FieldCheck
  readonly required?: boolean
  /** Given by the client only at creation; later values are ignored. */
  readonly createOnly?: boolean
  /** Never stored: consumed by {@link Resource.complete}. */
  readonly transient?: boolean
}

export interface Resource {
  /** As messages name it: `Document not found.`, `Collection already exists.` */
  readonly label: string
  readonly fields: Readonly<Record<string, FieldSpec>>
  /** Fields that exist before the client's own are applied, on creation. */
  readonly defaults?: (call: Call) => ObjectValue
  /** Fields that survive a replace that does not give them. */
  readonly keptOnReplace: readonly string[]
  /** References in its fields have to exist and be readable by the caller. */
  readonly strictReferences: boolean
  /** Only databases, keys, roles and access providers may stand in a container database. */
  readonly allowedInContainer: boolean
  /** The last step before the write: rules across fields, computed fields. Pushes failures. */
  readonly complete?: (draft: Draft) => void
  /** After the write, in the same transaction: what belongs to the document. */
  readonly written?: (draft: Draft, version: Version) => void
  /** Throws when the document may not be deleted. */
  readonly beforeDelete?: (version: Version, call: Call) => void
}

/** A field of a document that was refused. */
export function failure(field: readonly string[], code: string, description: string): Failure {
  return { field, code, description }
}

/** The failure for a field that must be there. */
export function valueRequired(field: readonly string[]): Failure {
  return failure(field, 'value required', 'Required value not found.')
}

/** The failure for a value of the wrong type. */
export function invalidType(field: readonly string[], value: Value, expected: string): Failure {
  return failure(field, 'invalid type', `Invalid type ${storedTypeName(value)}, expected type ${expected}.`)
}

/** The names of types as validation failures spell them. */
function storedTypeName(value: Value): string {
  switch (typeof value) {
    case 'bigint':
      return 'Long'
    case 'number':
      return 'Double'
    case 'boolean':
      return 'Boolean'
    case 'string':
      return 'String'
  }
  if (value === null) return 'Null'
  if (isArray(value)) return 'Array'
  if (isObject(value)) return 'Map'
  if (value instanceof Uint8Array) return 'Bytes'
  if (value instanceof Ref) return 'Ref'
  if (value instanceof Time) return 'Time'
  if (value instanceof LocalDate) return 'Date'
  if (value instanceof Lambda) return 'Query'
  if (value instanceof Uuid) return 'UUID'
  return value instanceof TransactionTime ? 'TransactionTime' : 'Map'
}
