// Errors for violated rules of the data. An error has a kind with details, but no text. Each language has a table of
// texts and codes for the kinds, and finds the position in the query that an error refers to.

import { WriteRejected } from '../storage/store/store-contract.ts'
import type { Ref, Value } from '../values/value.ts'

/**
 * The part of a query that an error refers to: the whole call, or its target (the collection to create in, the document
 * to change).
 */
export type FailurePlace = 'call' | 'target'

/** A path in a document: names of fields, positions in arrays. */
export type FieldPath = readonly (string | number)[]

/** The reason why a value does not match the type that its collection declares. Types are in printed form. */
export type TypeFault =
  | { readonly kind: 'mismatch'; readonly expected: string; readonly provided: string }
  | { readonly kind: 'missing'; readonly expected: string }
  | { readonly kind: 'unexpected' }
  | { readonly kind: 'tuple arity' }
  /**
   * The value matches no object type of a union. Each inner list has the required fields of one of these types.
   */
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
  /** A server key tried to give a function the role `admin`. `isNew`: the function is being created. */
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

/** A change that would remove data from a protected database. */
export type DestructiveChange =
  | 'delete collection'
  | 'delete index'
  | 'decrease history_days'
  | 'remove history_days'
  | 'decrease ttl_days'
  | 'remove ttl_days'

/** A check constraint that failed, or that returned no boolean. */
export interface FailedCheck {
  readonly name: string
  readonly why: 'not met' | 'no boolean'
}

/** The reason why a query fails. */
export type Fault =
  | { readonly kind: 'permission denied' }
  | { readonly kind: 'not found'; readonly ref: Ref }
  /** The collection of a document was deleted. */
  | { readonly kind: 'collection gone'; readonly collection: Ref }
  /** A document with this id, or a schema object with this name, already exists. */
  | { readonly kind: 'exists'; readonly ref: Ref }
  /** A key with this id already exists. */
  | { readonly kind: 'key exists' }
  /**
   * `indexes`: the unique indexes that already contain the same terms and values. Empty if the document already has
   * other credentials.
   */
  | { readonly kind: 'not unique'; readonly indexes: readonly Ref[] }
  | { readonly kind: 'invalid fields'; readonly failures: readonly FieldFailure[] }
  | { readonly kind: 'mistyped'; readonly failures: readonly TypeFailure[] }
  | { readonly kind: 'failed checks'; readonly checks: readonly FailedCheck[] }
  /** The code of a check constraint failed with an error of its language. */
  | { readonly kind: 'broken check'; readonly error: LanguageError }
  /** The default value of a field could not be computed. */
  | { readonly kind: 'failed default'; readonly field: string; readonly error: LanguageError }
  /** A query may write only in its own database. */
  | { readonly kind: 'other database' }
  | { readonly kind: 'negative id'; readonly id: bigint }
  /** The query writes while `at` sets another time, or it writes history at a time in the future or before 1684. */
  | { readonly kind: 'other time' }
  | { readonly kind: 'in container' }
  | { readonly kind: 'built-in collection'; readonly mode: 'update' | 'replace' }
  /** The collection was created by the same query. */
  | { readonly kind: 'new collection' }
  | { readonly kind: 'destructive'; readonly change: DestructiveChange }
  /** Definitions cannot change while a schema is staged. */
  | { readonly kind: 'staged schema' }
  /** The body of a function is not code. */
  | { readonly kind: 'no body' }
  /** Only documents of user collections have a history that queries can write. */
  | { readonly kind: 'fixed history'; readonly action: 'insert' | 'remove' }
  /** A function of another language returned a value that this language cannot represent. */
  | { readonly kind: 'foreign value'; readonly type: string }
  | { readonly kind: 'moved into itself'; readonly database: string; readonly parent: string }

/**
 * A violated rule of the data. Languages catch a Failure and render it with their own text. The class does not extend
 * Error, because recording a stack for each denied permission would be expensive.
 */
export class Failure {
  readonly faults: readonly (Fault & { readonly place: FailurePlace })[]

  constructor(faults: readonly (Fault & { readonly place: FailurePlace })[]) {
    this.faults = faults
  }

  /** The kinds of the faults, for code that has no texts for the kinds. */
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

/** An error of the query itself, with a text of its language. Other languages may show `message`. */
export abstract class LanguageError extends Error {
  /** The value passed to `abort`, if the query aborted. */
  abstract readonly aborted: Value | undefined

  /** The text to show when code of another language called the failing code. */
  get foreignText(): string {
    return this.message
  }

  /** Returns whether the response reports the costs of the query up to the error. */
  get reportsCosts(): boolean {
    return this.aborted !== undefined
  }
}
