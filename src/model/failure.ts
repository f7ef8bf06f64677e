// Defines failures: violated rules of the data model. A failure contains faults, which have a kind and details, but no
// text. Each language maps the kinds to texts and codes, and adds the position in the query.

import { catchError } from '../base/catch-error.ts'
import { WriteRejected } from '../storage/store/store-contract.ts'
import type { Ref, Value } from '../values/value.ts'

/**
 * The part of a query to which an error refers: the whole call, or the target of the call. The target of a creation is
 * the collection, the target of a change the document.
 */
export type FailurePlace = 'call' | 'target'

/** Names of fields, and indexes in arrays. */
export type FieldPath = readonly (string | number)[]

/** Why a value does not match its declared type. `expected` and `provided` are texts of types. */
export type TypeFault =
  | { readonly kind: 'mismatch'; readonly expected: string; readonly provided: string }
  | { readonly kind: 'missing'; readonly expected: string }
  | { readonly kind: 'unexpected' }
  | { readonly kind: 'tuple arity' }
  /** The value matches no object type of a union. `fields` contains a list of required fields for each object type. */
  | { readonly kind: 'union fields'; readonly fields: readonly (readonly string[])[] }

/** `path` is the path in the document. */
export interface TypeFailure {
  readonly path: FieldPath
  readonly fault: TypeFault
}

/** Why a field of a written document is invalid. */
export type FieldFault =
  | { readonly kind: 'required' }
  /** `expected` is the name of a type in version 4, such as `String`, `Class Ref` or `RoleAction`. */
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
  /** A caller with a server key wrote a function with the role `admin`. `isNew`: the query creates the function. */
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

export interface FieldFailure {
  readonly path: readonly string[]
  readonly fault: FieldFault
  /** `path` is relative to the fields in the query. If absent, it is relative to the resulting document. */
  readonly isInArgument?: boolean
}

/** Protected databases reject a change that removes data. */
export type DestructiveChange =
  | 'delete collection'
  | 'delete index'
  | 'decrease history_days'
  | 'remove history_days'
  | 'decrease ttl_days'
  | 'remove ttl_days'

/** The check returned false or null (`not met`), or a value of another type (`no boolean`). */
export interface FailedCheck {
  readonly name: string
  readonly why: 'not met' | 'no boolean'
}

/** The rule that a query violates, with details. */
export type Fault =
  | { readonly kind: 'permission denied' }
  | { readonly kind: 'not found'; readonly ref: Ref }
  /** The collection of the document was deleted. */
  | { readonly kind: 'collection gone'; readonly collection: Ref }
  /** A document with this id, or a schema object with this name, already exists. */
  | { readonly kind: 'exists'; readonly ref: Ref }
  /** A key with this id already exists. */
  | { readonly kind: 'key exists' }
  /** The unique indexes that already contain these terms and values; empty if the document already has credentials. */
  | { readonly kind: 'not unique'; readonly indexes: readonly Ref[] }
  | { readonly kind: 'invalid fields'; readonly failures: readonly FieldFailure[] }
  | { readonly kind: 'mistyped'; readonly failures: readonly TypeFailure[] }
  | { readonly kind: 'failed checks'; readonly checks: readonly FailedCheck[] }
  /** The code of a check constraint threw an error. */
  | { readonly kind: 'broken check'; readonly error: LanguageError }
  /** The expression of a default value threw an error. */
  | { readonly kind: 'failed default'; readonly field: string; readonly error: LanguageError }
  /** The query writes a document of another database. */
  | { readonly kind: 'other database' }
  | { readonly kind: 'negative id'; readonly id: bigint }
  /** The query writes in an `at` expression, or inserts a version with a time in the future or before 1684. */
  | { readonly kind: 'other time' }
  | { readonly kind: 'in container' }
  | { readonly kind: 'built-in collection'; readonly mode: 'update' | 'replace' }
  /** The query creates a collection and a document in this collection. */
  | { readonly kind: 'new collection' }
  | { readonly kind: 'destructive'; readonly change: DestructiveChange }
  /** The query changes a definition while a schema is staged. */
  | { readonly kind: 'staged schema' }
  /** The query writes a function whose body is not code. */
  | { readonly kind: 'no body' }
  /**
   * Queries can insert versions of user documents and keys, and remove versions of user documents. All other history is
   * read-only.
   */
  | { readonly kind: 'fixed history'; readonly action: 'insert' | 'remove' }
  /** A function of another language returned a value that the calling language cannot represent. */
  | { readonly kind: 'foreign value'; readonly type: string }
  | { readonly kind: 'moved into itself'; readonly database: string; readonly parent: string }

/**
 * Languages convert a Failure to errors with texts. The class does not extend Error, because recording the stack for
 * every denied permission would be expensive.
 */
export class Failure {
  readonly faults: readonly (Fault & { readonly place: FailurePlace })[]

  constructor(faults: readonly (Fault & { readonly place: FailurePlace })[]) {
    this.faults = faults
  }

  /** The kinds of the faults, separated by commas. Used if no language renders the faults. */
  get message(): string {
    return this.faults.map(({ kind }) => kind).join(', ')
  }

  static of(fault: Fault, place: FailurePlace = 'call'): Failure {
    return new Failure([{ ...fault, place }])
  }
}

/** If the store rejects a write of `work`, throws a Failure at `place`. */
export function applyWrite<T>(work: () => T, place: FailurePlace): T {
  return catchError(WriteRejected, work, ({ indexes, reason }) => {
    throw Failure.of(reason === 'key exists' ? { kind: reason } : { kind: reason, indexes }, place)
  })
}

/** An error of a query or of stored code, whose language defines the form of the text. */
export abstract class LanguageError extends Error {
  /** The value that the query passed to `abort`. Undefined for all other errors. */
  abstract readonly aborted: Value | undefined

  /** The text of the error for a caller in another language. */
  get foreignText(): string {
    return this.message
  }

  /** The response reports the costs of the query up to the error. */
  get reportsCosts(): boolean {
    return this.aborted !== undefined
  }
}
