// A Resource has the rules for one kind of document: its fields, their types, and rules across fields. Each kind has a
// file. The pipeline in write.ts is the same for all kinds.

import type { Version } from '../../storage/store/store-contract.ts'
import type { ObjectValue, Ref, Value } from '../../values/value.ts'
import type { FailurePlace, FieldFailure, FieldFault, TypeFailure } from '../failure.ts'
import type { Session } from '../session.ts'

/** `history` writes a version at a past time. */
export type WriteMode = 'create' | 'update' | 'replace' | 'history'

/**
 * The policy of a language for writing documents. The model applies the policy without knowing the language. If a
 * member is absent, the rule applies that the member's comment describes after "Otherwise".
 */
export interface WriteRules {
  /** Nulls in arrays and an empty `data` are stored. Otherwise both are removed. */
  readonly keepsEmpty?: boolean
  /** Creation under a given id also needs the right `create`. Otherwise the right `create_with_id` suffices. */
  readonly idNeedsCreate?: boolean
  /**
   * The language writes the {@link FieldSpec.schemaOnly} fields. Otherwise given values are ignored, and a replace
   * keeps the stored values.
   */
  readonly writesSchema?: boolean
  /** A replace drops the name unless the query gives one. Otherwise the name survives. */
  readonly replacesName?: boolean
  /**
   * The language checks names and code that are strings, in part only at the end of the query. Otherwise the model
   * requires references and lambdas, and resolves roles immediately.
   */
  readonly checksTexts?: boolean
  /** A replace keeps the secret of a token. Otherwise the token gets a new secret. */
  readonly keepsTokenSecret?: boolean
  /** Each write that gives no `ttl` renews the time to live. Otherwise a stored time to live does not change. */
  readonly renewsTimeToLive?: boolean
  /**
   * A caller may change a function that has a higher role, if its role and body stay the same. Errors give the reasons
   * why a new role is invalid. Otherwise such writes fail with a denied permission.
   */
  readonly explainsRoles?: boolean
  /**
   * The default days of history of a collection, on creation and on replace. Otherwise a replace keeps the old value.
   */
  readonly historyDaysDefault?: number
  /** A last check, after all checks of permission and existence. Throws if the write is invalid. */
  readonly check?: () => void
  /** Checks the fields as they will be stored, and may change their form. Throws if they are invalid. */
  readonly normalize?: (fields: Map<string, Value>) => void
}

/** A document that is being written. */
export interface Draft {
  readonly mode: WriteMode
  readonly ref: Ref
  /** The live version before the write, for updates and replaces. */
  readonly previous: Version | undefined
  /** The fields that the client sent, without unknown fields. */
  readonly patch: ObjectValue
  /** The merged fields that will be stored; {@link Resource.complete} may change them. */
  readonly fields: Map<string, Value>
  /** The faults of fields. */
  readonly failures: FieldFailure[]
  /** Parts of the data that do not have their declared type. */
  readonly typeFailures: TypeFailure[]
  /** Fields that only this response shows, such as a new secret. */
  readonly shown: Map<string, Value>
  /** Stored fields that this response leaves out. */
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
   * Only languages with {@link WriteRules.writesSchema} write the field. Other languages ignore given values and keep
   * the stored one.
   */
  readonly schemaOnly?: boolean
  /** The field is not stored. {@link Resource.complete} uses its value. */
  readonly transient?: boolean
}

export interface Resource {
  readonly fields: Readonly<Record<string, FieldSpec>>
  /** Initial fields at creation, before the client's fields are applied. */
  readonly defaults?: (session: Session, rules: WriteRules) => ObjectValue
  /** Fields that a replace keeps if the client does not set them. */
  readonly preservedOnReplace?: readonly string[]
  /** The documents that its fields refer to must exist, and the caller must be able to read them. */
  readonly strictReferences?: true
  /** Documents of this kind may be written in a container database. */
  readonly allowedInContainer?: true
  /** The last step before the write: rules across fields, computed fields. Adds failures to the draft. */
  readonly complete?: (draft: Draft) => void
  /** Runs after the write, in the same transaction, and writes dependent documents. */
  readonly written?: (draft: Draft, version: Version) => void
  /** Throws when the document may not be deleted. */
  readonly beforeDelete?: (version: Version, session: Session) => void
}

/** Returns the failure of an invalid field. */
export function failure(path: readonly string[], fault: FieldFault): FieldFailure {
  return { path, fault }
}

/** Returns the part of the query to which errors of a write as a whole refer. */
export function blamedBy(mode: WriteMode): FailurePlace {
  return mode === 'create' ? 'target' : 'call'
}

/** Returns the failure for a value of the wrong type. */
export function invalidType(path: readonly string[], value: Value, expected: string): FieldFailure {
  return failure(path, { kind: 'type', value, expected })
}
