// What a kind of document is made of: its fields, their types and rules. One file per kind declares a Resource;
// the pipeline in write.ts is the same for all.

import type { Version } from '../../storage/store/contract.ts'
import type { ObjectValue, Ref, Value } from '../../values/value.ts'
import type { FailurePlace, FieldFailure, FieldFault, TypeFailure } from '../failure.ts'
import type { Session } from '../session.ts'

/** `history` is a version written into the past. */
export type WriteMode = 'create' | 'update' | 'replace' | 'history'

/**
 * The policy by which a language writes documents. The model follows it and never asks which language it is. Members that
 * are absent leave the strict rule in force, which the comment of each names.
 */
export interface WriteRules {
  /** Nulls in arrays and an empty `data` are stored. Otherwise both are removed. */
  readonly keepsEmpty?: boolean
  /** Creation under a given id needs the right to create, too. Otherwise the right to create with an id suffices. */
  readonly idNeedsCreate?: boolean
  /** The language writes the {@link FieldSpec.schemaOnly} fields. Otherwise these are ignored and survive a replace. */
  readonly writesSchema?: boolean
  /** A replace drops the name unless the query gives one. Otherwise the name survives. */
  readonly replacesName?: boolean
  /**
   * The language checks names and code that are texts, some of them when the query ends. Otherwise the model requires
   * references and lambdas, and looks roles up at once.
   */
  readonly checksTexts?: boolean
  /** A replace keeps the secret of a token. Otherwise the token gets a new one. */
  readonly keepsTokenSecret?: boolean
  /** Each write that gives no `ttl` renews the time to live. Otherwise it stays as it is. */
  readonly renewsTimeToLive?: boolean
  /**
   * A caller may change a function with a higher role while role and body stay, and learns what is wrong with a new role.
   * Otherwise the caller is denied.
   */
  readonly explainsRoles?: boolean
  /** Days of history of a collection that names none, on creation and on replace. Otherwise a replace keeps the old value. */
  readonly historyDaysDefault?: number
  /** A last look, once it is certain that the document may be written. Throws what refuses it. */
  readonly check?: () => void
  /** Looks at the fields as they will be stored, and may give them another form. Throws what refuses them. */
  readonly settle?: (fields: Map<string, Value>) => void
}

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
  readonly failures: FieldFailure[]
  /** Where its data is not what the collection declares. */
  readonly typeFailures: TypeFailure[]
  /** Fields that only this response shows, such as a new secret. */
  readonly shown: Map<string, Value>
  /** Stored fields that this response leaves out. */
  readonly omitted: Set<string>
  readonly session: Session
  readonly rules: WriteRules
}

/** Checks a value found at `path`; returns what is wrong. */
export type FieldCheck = (value: Value, path: readonly string[]) => readonly FieldFailure[]

/** What is known of a field. */
export interface FieldSpec {
  /** Absent: any value will do. */
  readonly check?: FieldCheck
  readonly required?: boolean
  /** Given by the client only at creation; later values are ignored. */
  readonly createOnly?: boolean
  /** Written by languages with {@link WriteRules.writesSchema} alone: what others give is ignored, and what is stored stays. */
  readonly schemaOnly?: boolean
  /** Never stored: consumed by {@link Resource.complete}. */
  readonly transient?: boolean
}

export interface Resource {
  readonly fields: Readonly<Record<string, FieldSpec>>
  /** Fields that exist before the client's own are applied, on creation. */
  readonly defaults?: (session: Session, rules: WriteRules) => ObjectValue
  /** Fields that survive a replace that does not give them. */
  readonly keptOnReplace?: readonly string[]
  /** References in its fields have to exist and be readable by the caller. */
  readonly strictReferences?: true
  /** Only databases, keys, roles and access providers may stand in a container database. */
  readonly allowedInContainer?: true
  /** The last step before the write: rules across fields, computed fields. Pushes failures. */
  readonly complete?: (draft: Draft) => void
  /** After the write, in the same transaction: what belongs to the document. */
  readonly written?: (draft: Draft, version: Version) => void
  /** Throws when the document may not be deleted. */
  readonly beforeDelete?: (version: Version, session: Session) => void
}

/** A field of a document that is refused. */
export function failure(path: readonly string[], fault: FieldFault): FieldFailure {
  return { path, fault }
}

/** What a refusal of a write as a whole blames. */
export function blamedBy(mode: WriteMode): FailurePlace {
  return mode === 'create' ? 'target' : 'call'
}

/** The failure for a value of the wrong type. */
export function invalidType(path: readonly string[], value: Value, expected: string): FieldFailure {
  return failure(path, { kind: 'type', value, expected })
}
