// A Resource contains the rules for one kind of document: its fields, their types, and rules that involve several
// fields. Each kind has a file. The pipeline in write.ts is the same for all kinds.

import type { Version } from '../../storage/store/store-contract.ts'
import type { ObjectValue, Ref, Value } from '../../values/value.ts'
import type { FailurePlace, FieldFailure, FieldFault, TypeFailure } from '../failure.ts'
import type { Session } from '../session.ts'

/** The kind of a write. `history` writes a version at a past time. */
export type WriteMode = 'create' | 'update' | 'replace' | 'history'

/**
 * The rules of a language for writing documents. The model applies these rules without knowing the language. Each
 * comment first describes the case in which the member is present. "Otherwise" describes the case in which the member
 * is absent.
 */
export interface WriteRules {
  /** Nulls in arrays and an empty `data` are stored. Otherwise they are removed. */
  readonly keepsEmpty?: boolean
  /** Creation with a given id also needs the right `create`. Otherwise the right `create_with_id` suffices. */
  readonly idNeedsCreate?: boolean
  /**
   * The language writes the {@link FieldSpec.schemaOnly} fields. Otherwise values for these fields are ignored, and a
   * replace keeps the stored values.
   */
  readonly writesSchema?: boolean
  /** A replace removes the name unless the query sets the name. Otherwise a replace keeps the name. */
  readonly replacesName?: boolean
  /**
   * The language itself checks strings that are names or code; some only at the end of the query. Otherwise the model
   * requires references and lambdas instead of such strings, and resolves roles immediately.
   */
  readonly checksTexts?: boolean
  /** A replace keeps the secret of a token. Otherwise the token gets a new secret. */
  readonly keepsTokenSecret?: boolean
  /** Each write that sets no `ttl` renews the time to live. Otherwise a stored time to live does not change. */
  readonly renewsTimeToLive?: boolean
  /**
   * A caller may change a function that has a higher role than the caller, if the write keeps the role and the body.
   * Errors give the reasons why a new role is invalid. Otherwise both kinds of writes fail with a denied permission.
   */
  readonly explainsRoles?: boolean
  /**
   * The default days of history of a collection, on creation and on replace. Otherwise a replace keeps the stored
   * value.
   */
  readonly historyDaysDefault?: number
  /** A last check, after all checks of permission and existence. Throws if the write is invalid. */
  readonly check?: () => void
  /** Checks the fields that will be stored, and may change their form. Throws if the fields are invalid. */
  readonly normalize?: (fields: Map<string, Value>) => void
}

/** A document that is being written. */
export interface Draft {
  readonly mode: WriteMode
  readonly ref: Ref
  /** The live version before the write. Undefined unless the write is an update or a replace. */
  readonly previous: Version | undefined
  /** The fields that the client sent, without unknown fields. */
  readonly patch: ObjectValue
  /** The merged fields that will be stored; {@link Resource.complete} may change them. */
  readonly fields: Map<string, Value>
  /** The invalid fields. */
  readonly failures: FieldFailure[]
  /** The values that do not have their declared type. */
  readonly typeFailures: TypeFailure[]
  /** Fields that only the response to this write shows, such as a new secret. */
  readonly shown: Map<string, Value>
  /** Names of stored fields that the response to this write omits. */
  readonly omitted: Set<string>
  readonly session: Session
  readonly rules: WriteRules
}

/** Checks the value at `path`, and returns its faults. */
export type FieldCheck = (value: Value, path: readonly string[]) => readonly FieldFailure[]

/** The rules for one field. */
export interface FieldSpec {
  /** Absent if every value is valid. */
  readonly check?: FieldCheck
  readonly required?: boolean
  /** Clients may set the field only at creation. Later values are ignored. */
  readonly createOnly?: boolean
  /**
   * Only languages with {@link WriteRules.writesSchema} write the field. Other languages ignore values for the field,
   * and keep the stored value.
   */
  readonly schemaOnly?: boolean
  /** The field is not stored. {@link Resource.complete} uses the value of the field. */
  readonly transient?: boolean
}

export interface Resource {
  readonly fields: Readonly<Record<string, FieldSpec>>
  /** Returns the initial fields of a new document, before the client's fields are applied. */
  readonly defaults?: (session: Session, rules: WriteRules) => ObjectValue
  /** The names of the fields that a replace keeps if the client does not set them. */
  readonly preservedOnReplace?: readonly string[]
  /** If true, the documents to which the fields refer must exist, and the caller must be allowed to read them. */
  readonly strictReferences?: true
  /** If true, documents of this kind may be written in a container database. */
  readonly allowedInContainer?: true
  /**
   * The last step before the write: checks rules that involve several fields, and computes fields. Adds failures to the
   * draft.
   */
  readonly complete?: (draft: Draft) => void
  /** Runs after the write, in the same transaction, and writes dependent documents. */
  readonly written?: (draft: Draft, version: Version) => void
  /** Runs before a deletion. Throws if the document must not be deleted. */
  readonly beforeDelete?: (version: Version, session: Session) => void
}

/** Returns the failure for an invalid field. */
export function failure(path: readonly string[], fault: FieldFault): FieldFailure {
  return { path, fault }
}

/** Returns the part of the query to which errors about the whole write refer. */
export function blamedBy(mode: WriteMode): FailurePlace {
  return mode === 'create' ? 'target' : 'call'
}

/** Returns the failure for a value of the wrong type. */
export function invalidType(path: readonly string[], value: Value, expected: string): FieldFailure {
  return failure(path, { kind: 'type', value, expected })
}
