// The rules for one kind of document, such as roles: the fields, their types, and functions that check several fields.
// The file write.ts applies these rules to all writes.

import type { Version } from '../../storage/store/store-contract.ts'
import type { ObjectValue, Ref, Value } from '../../values/value.ts'
import type { FailurePlace, FieldFailure, FieldFault, TypeFailure } from '../failure.ts'
import type { Session } from '../session.ts'

/** `history` inserts a version at a past time. */
export type WriteMode = 'create' | 'update' | 'replace' | 'history'

/**
 * The differences between the languages: the comment of a flag describes the rule if the flag is true, and then the
 * rule if the flag is absent.
 */
export interface WriteRules {
  /** Null elements of arrays and an empty `data` are stored. If absent, both are removed. */
  readonly keepsEmpty?: boolean
  /** Creation with a given id needs the rights `create` and `create_with_id`, or else only `create_with_id`. */
  readonly idNeedsCreate?: boolean
  /**
   * The {@link FieldSpec.schemaOnly} fields are written. If absent, writes ignore them and preserve the stored values.
   */
  readonly writesSchema?: boolean
  /**
   * A replace removes all stored fields that the query may write and does not contain. If absent, a replace preserves
   * {@link Resource.preservedOnReplace}.
   */
  readonly replacesAllFields?: boolean
  /**
   * Names and code are strings, which the language checks. If absent, the model requires references and lambdas, and
   * checks that roles exist.
   */
  readonly languageChecksTexts?: boolean
  /**
   * Static types are checked by default in the databases that the language creates. If absent, they are checked only
   * with the flag `typechecked` of the database or of an ancestor.
   */
  readonly checksTypes?: boolean
  /** A replace preserves the secret of a token. If absent, a replace creates a new secret. */
  readonly keepsTokenSecret?: boolean
  /** Each write without `ttl` sets a new default expiry time. If absent, the write preserves the stored `ttl`. */
  readonly renewsTimeToLive?: boolean
  /**
   * A caller may change a function whose role has more rights than the caller only if the role and the body stay the
   * same. If a server key changes the role, the errors contain the reasons. Other changes fail with `permission
   * denied`. If absent, all writes of such a function fail with `permission denied`.
   */
  readonly explainsRoles?: boolean
  /**
   * The value at creation and replace. If absent, creation uses the default of collections.ts, and a replace preserves
   * the stored value.
   */
  readonly historyDaysDefault?: number
  /** A query that creates a collection cannot create documents in it. If absent, the query can. */
  readonly rejectsNewCollections?: boolean
  /** Called after all checks of permission and existence. Throws if the write is invalid. */
  readonly check?: () => void
  /** Checks the fields before the document is stored, and may convert fields. Throws if the fields are invalid. */
  readonly normalize?: (fields: Map<string, Value>) => void
}

/** A document that is being written. */
export interface Draft {
  readonly mode: WriteMode
  readonly ref: Ref
  /** The version before an update or a replace. Undefined for other writes. */
  readonly previous: Version | undefined
  /** The fields in the query that this write may set. Unknown fields are omitted. */
  readonly patch: ObjectValue
  /** The fields to store. {@link Resource.complete} may change these fields. */
  readonly fields: Map<string, Value>
  readonly failures: FieldFailure[]
  /** The values that do not match their declared type. */
  readonly typeFailures: TypeFailure[]
  /** Additional fields in the response to this write, such as a new secret. */
  readonly shown: Map<string, Value>
  /** Stored fields that the response to this write does not contain. */
  readonly omitted: Set<string>
  readonly session: Session
  readonly rules: WriteRules
}

/** Checks the value at `path`, and returns the failures. */
export type FieldCheck = (value: Value, path: readonly string[]) => readonly FieldFailure[]

export interface FieldSpec {
  /** Absent if all values are valid. */
  readonly check?: FieldCheck
  readonly required?: boolean
  /** Later writes ignore the field. */
  readonly createOnly?: boolean
  /**
   * Only languages with {@link WriteRules.writesSchema} write the field. Writes of other languages preserve the stored
   * value.
   */
  readonly schemaOnly?: boolean
  /** The field is not stored. {@link Resource.complete} reads the value. */
  readonly transient?: boolean
}

export interface Resource {
  readonly fields: Readonly<Record<string, FieldSpec>>
  /** Returns the default fields of a new document. */
  readonly defaults?: (session: Session, rules: WriteRules) => ObjectValue
  /** A replace preserves these fields if the query does not contain them. */
  readonly preservedOnReplace?: readonly string[]
  /** All references must point to existing documents that the caller may read. */
  readonly strictReferences?: true
  /** A container database may contain documents of this kind. */
  readonly allowedInContainer?: true
  /** Checks rules about several fields, and computes fields, directly before the write. Adds failures to the draft. */
  readonly complete?: (draft: Draft) => void
  /** Runs after the write, in the same transaction. Writes dependent documents. */
  readonly written?: (draft: Draft, version: Version) => void
  /** Throws if the deletion is forbidden. */
  readonly beforeDelete?: (version: Version, session: Session) => void
}

export function failure(path: readonly string[], fault: FieldFault): FieldFailure {
  return { path, fault }
}

/** Errors about a whole document refer to this part of the query. */
export function failurePlaceOf(mode: WriteMode): FailurePlace {
  return mode === 'create' ? 'target' : 'call'
}

/** The name of the type in error texts of the protocol: a class is the older name of a collection. */
export const collectionRefType = 'Class Ref'

/** Returns the failure of a value that has the wrong type. */
export function invalidType(path: readonly string[], value: Value, expected: string): FieldFailure {
  return failure(path, { kind: 'type', value, expected })
}
