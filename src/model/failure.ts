// Errors for queries that violate a rule of the data model. An error has a kind and details, but no text. Each language
// has a table of texts and codes for the kinds. Each language also finds the position in the query that an error refers
// to.

import { WriteRejected } from '../storage/store/store-contract.ts'
import type { Ref, Value } from '../values/value.ts'

/**
 * The part of a query that an error refers to: the whole call, or the call's target. The target is the collection in
 * which the call creates a document, or the document that the call changes.
 */
export type FailurePlace = 'call' | 'target'

/** The path to a value in a document. A string is the name of a field, and a number is an index in an array. */
export type FieldPath = readonly (string | number)[]

/**
 * The reason why a value does not match the type that its collection declares. `expected` and `provided` are types as
 * text.
 */
export type TypeFault =
  | { readonly kind: 'mismatch'; readonly expected: string; readonly provided: string }
  | { readonly kind: 'missing'; readonly expected: string }
  | { readonly kind: 'unexpected' }
  | { readonly kind: 'tuple arity' }
  /** The value matches no object type of a union. Each inner list contains the required fields of one object type. */
  | { readonly kind: 'union fields'; readonly fields: readonly (readonly string[])[] }

/** A value that does not have its declared type, with its path in the document. */
export interface TypeFailure {
  readonly path: FieldPath
  readonly fault: TypeFault
}

/** The reason why one field of a written document is invalid. */
export type FieldFault =
  | { readonly kind: 'required' }
  /** `expected` is the name of a type as version 4 spells it: `String`, `Class Ref`, `RoleAction` … */
  | { readonly kind: 'type'; readonly value: Value; readonly expected: string }
  | { readonly kind: 'one of required'; readonly names: readonly string[] }
  | { readonly kind: 'reserved name'; readonly name: string }
  | { readonly kind: 'name characters'; readonly name: string }
  | { readonly kind: 'negative' }
  | { readonly kind: 'out of range'; readonly value: Value; readonly least: bigint; readonly most: bigint }
  | { readonly kind: 'not unique' }
  | { readonly kind: 'reference'; readonly why: 'unreadable' | 'missing' | 'other database' }
  | { readonly kind: 'current password' }
  | { readonly kind: 'secret' }
  | { readonly kind: 'uri'; readonly uri: string }
  | { readonly kind: 'transform'; readonly name: Value }
  | { readonly kind: 'arity'; readonly found: number; readonly expected: number }
  | { readonly kind: 'built-in role'; readonly role: string }
  | { readonly kind: 'unknown role'; readonly role: string }
  /**
   * A caller with a server key tried to give a function the role `admin`. `isNew`: true if the query creates the
   * function.
   */
  | { readonly kind: 'admin role'; readonly isNew: boolean }
  | { readonly kind: 'too many roles'; readonly most: number }
  | { readonly kind: 'filled container' }
  | { readonly kind: 'mixed wildcards' }
  | { readonly kind: 'several wildcards' }
  | { readonly kind: 'repeated source' }
  | { readonly kind: 'impure binding' }
  | { readonly kind: 'unused binding' }
  | { readonly kind: 'partitions changed'; readonly before: Value; readonly after: Value }
  | { readonly kind: 'index changed' }

/** An invalid field. */
export interface FieldFailure {
  readonly path: readonly string[]
  readonly fault: FieldFault
  /**
   * True if the path refers to the fields that the client sent. Otherwise the path refers to the resulting document.
   */
  readonly isInArgument?: boolean
}

/** A change that would remove data, and that is rejected because the database is protected. */
export type DestructiveChange =
  | 'delete collection'
  | 'delete index'
  | 'decrease history_days'
  | 'remove history_days'
  | 'decrease ttl_days'
  | 'remove ttl_days'

/** A check constraint that was not met, or that did not return a boolean. */
export interface FailedCheck {
  readonly name: string
  readonly why: 'not met' | 'no boolean'
}

/** The reason why a query fails: a rule of the data model that the query violates. */
export type Fault =
  | { readonly kind: 'permission denied' }
  | { readonly kind: 'not found'; readonly ref: Ref }
  /** The collection to which the document belongs was deleted. */
  | { readonly kind: 'collection gone'; readonly collection: Ref }
  /** A document with this id, or a schema object with this name, already exists. */
  | { readonly kind: 'exists'; readonly ref: Ref }
  /** A key with this id already exists. */
  | { readonly kind: 'key exists' }
  /**
   * `indexes`: the unique indexes that already contain an entry with the same terms and values. Empty if the query
   * creates credentials for a document that already has credentials.
   */
  | { readonly kind: 'not unique'; readonly indexes: readonly Ref[] }
  | { readonly kind: 'invalid fields'; readonly failures: readonly FieldFailure[] }
  | { readonly kind: 'mistyped'; readonly failures: readonly TypeFailure[] }
  | { readonly kind: 'failed checks'; readonly checks: readonly FailedCheck[] }
  /** A check constraint could not be evaluated: its code threw an error. */
  | { readonly kind: 'broken check'; readonly error: LanguageError }
  /** The default value of a field could not be evaluated: its expression threw an error. */
  | { readonly kind: 'failed default'; readonly field: string; readonly error: LanguageError }
  /** The query writes a document of another database. A query may write only in its own database. */
  | { readonly kind: 'other database' }
  | { readonly kind: 'negative id'; readonly id: bigint }
  /**
   * The query writes while `at` sets the time of reads, or inserts a version at a time in the future or before 1684.
   */
  | { readonly kind: 'other time' }
  | { readonly kind: 'in container' }
  | { readonly kind: 'built-in collection'; readonly mode: 'update' | 'replace' }
  /** The query creates a document in a collection that the same query created. */
  | { readonly kind: 'new collection' }
  | { readonly kind: 'destructive'; readonly change: DestructiveChange }
  /** The query changes a definition while a schema is staged. */
  | { readonly kind: 'staged schema' }
  /** The query writes a function whose body is not code. */
  | { readonly kind: 'no body' }
  /**
   * The query writes the history of a document whose collection does not allow such writes. Queries can insert versions
   * of user documents and keys, and remove versions of user documents.
   */
  | { readonly kind: 'fixed history'; readonly action: 'insert' | 'remove' }
  /** A function of another language returned a value that the language of the caller cannot represent. */
  | { readonly kind: 'foreign value'; readonly type: string }
  | { readonly kind: 'moved into itself'; readonly database: string; readonly parent: string }

/**
 * Thrown when a query violates a rule of the data model. Languages catch a Failure and render the faults with their own
 * texts. The class does not extend Error, because recording a stack for each denied permission would be expensive.
 */
export class Failure {
  readonly faults: readonly (Fault & { readonly place: FailurePlace })[]

  constructor(faults: readonly (Fault & { readonly place: FailurePlace })[]) {
    this.faults = faults
  }

  /** The kinds of the faults, separated by commas. Used where no table of texts is available. */
  get message(): string {
    return this.faults.map(({ kind }) => kind).join(', ')
  }

  static of(fault: Fault, place: FailurePlace = 'call'): Failure {
    return new Failure([{ ...fault, place }])
  }
}

/** Runs a write of the transaction. If the store rejects the write, throws a Failure that refers to `place`. */
export function applied<T>(work: () => T, place: FailurePlace): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof WriteRejected)) throw error
    const { indexes, reason } = error
    throw Failure.of(reason === 'key exists' ? { kind: reason } : { kind: reason, indexes }, place)
  }
}

/** An error that a query or stored code causes, with a text in the form of one language. */
export abstract class LanguageError extends Error {
  /** The value that the query passed to `abort`; undefined if the query did not abort. */
  abstract readonly aborted: Value | undefined

  /** The text that another language shows if its code called the failing code. */
  get foreignText(): string {
    return this.message
  }

  /** True if the response reports the costs of the query up to the error. */
  get reportsCosts(): boolean {
    return this.aborted !== undefined
  }
}
