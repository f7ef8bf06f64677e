// How the rules of the data refuse what a query asks for: a kind with its parts and no words. Each language has a table
// of texts and codes for the kinds, and knows where in its text the place is that is blamed.

import { WriteRefused } from '../storage/store/contract.ts'
import type { Ref, Value } from '../values/value.ts'

/** What is blamed: the call as a whole, or what it is applied to (a collection to create in, a document to change). */
export type FailurePlace = 'call' | 'target'

/** A place in a document: names of fields, positions in arrays. */
export type FieldPath = readonly (string | number)[]

/** Why a value is not what its collection declares. Types are as they are printed. */
export type TypeFault =
  | { readonly kind: 'mismatch'; readonly expected: string; readonly provided: string }
  | { readonly kind: 'missing'; readonly expected: string }
  | { readonly kind: 'unexpected' }
  | { readonly kind: 'tuple arity' }
  /** Each kind of object that could be there lacks fields: those that each requires. */
  | { readonly kind: 'union fields'; readonly fields: readonly (readonly string[])[] }

/** A value that is not what its collection declares; its place within the document. */
export interface TypeFailure {
  readonly path: FieldPath
  readonly fault: TypeFault
}

/** Why one field of a written document is refused. */
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
  /** A server key gives a function the role `admin`; `isNew`: at its creation. */
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

/** A field that is refused. */
export interface FieldFailure {
  readonly path: readonly string[]
  readonly fault: FieldFault
  /** The path is within the fields as they were given, not within the document that they make. */
  readonly isGiven?: boolean
}

/** A change that would make data disappear from a protected database. */
export type DestructiveChange =
  | 'delete collection'
  | 'delete index'
  | 'decrease history_days'
  | 'remove history_days'
  | 'decrease ttl_days'
  | 'remove ttl_days'

/** A check constraint that a document fails, or that says neither yes nor no. */
export interface FailedCheck {
  readonly name: string
  readonly why: 'not met' | 'no boolean'
}

/** Why a query is refused. */
export type Fault =
  | { readonly kind: 'permission denied' }
  | { readonly kind: 'not found'; readonly ref: Ref }
  /** The collection of a document is gone. */
  | { readonly kind: 'collection gone'; readonly collection: Ref }
  /** A document with that id, or a schema object with that name, is there. */
  | { readonly kind: 'exists'; readonly ref: Ref }
  /** A key with that id is there. */
  | { readonly kind: 'key exists' }
  /** `indexes`: the unique indexes that hold the same terms and values; none for the credentials of a document. */
  | { readonly kind: 'not unique'; readonly indexes: readonly Ref[] }
  | { readonly kind: 'invalid fields'; readonly failures: readonly FieldFailure[] }
  | { readonly kind: 'mistyped'; readonly failures: readonly TypeFailure[] }
  | { readonly kind: 'failed checks'; readonly checks: readonly FailedCheck[] }
  /** A check ended with an error of its language. */
  | { readonly kind: 'broken check'; readonly error: LanguageError }
  /** The default of a field has no value. */
  | { readonly kind: 'failed default'; readonly field: string; readonly error: LanguageError }
  /** Writing is for the database of the query. */
  | { readonly kind: 'other database' }
  | { readonly kind: 'negative id'; readonly id: bigint }
  /** Writing happens now, or for history up to now. */
  | { readonly kind: 'other time' }
  | { readonly kind: 'in container' }
  | { readonly kind: 'built-in collection'; readonly mode: 'update' | 'replace' }
  /** The collection was made by the same query. */
  | { readonly kind: 'new collection' }
  | { readonly kind: 'destructive'; readonly change: DestructiveChange }
  /** Definitions stay as they are while a schema is staged. */
  | { readonly kind: 'staged schema' }
  /** The body of a function is no code. */
  | { readonly kind: 'no body' }
  /** Only documents of user collections have a history that can be written. */
  | { readonly kind: 'fixed history'; readonly action: 'insert' | 'remove' }
  /** A function of another language gave what this one has no value for. */
  | { readonly kind: 'foreign value'; readonly type: string }
  | { readonly kind: 'moved into itself'; readonly database: string; readonly parent: string }

/**
 * A refusal by the rules of the data. Languages catch it and tell it in their own words: it is no Error, which would note the
 * stack each time that a caller is denied something.
 */
export class Failure {
  readonly faults: readonly (Fault & { readonly place: FailurePlace })[]

  constructor(faults: readonly (Fault & { readonly place: FailurePlace })[]) {
    this.faults = faults
  }

  /** The kinds, for where there are no words. */
  get message(): string {
    return this.faults.map(({ kind }) => kind).join(', ')
  }

  static of(fault: Fault, place: FailurePlace = 'call'): Failure {
    return new Failure([{ ...fault, place }])
  }
}

/** Runs a write of the transaction; what the store refuses is blamed at `place`. */
export function applied<T>(work: () => T, place: FailurePlace): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof WriteRefused)) throw error
    const { indexes, reason } = error
    throw Failure.of(reason === 'key exists' ? { kind: reason } : { kind: reason, indexes }, place)
  }
}

/** A query that failed by its own doing, in the words of its language. `message` is what other languages may tell. */
export abstract class LanguageError extends Error {
  /** The value that the query gave up with, where it gave up on purpose. */
  abstract readonly aborted: Value | undefined

  /** What went wrong, to those who called the code from another language. */
  get toldElsewhere(): string {
    return this.message
  }

  /** Whether the response tells what the query has cost up to here. */
  get tellsCosts(): boolean {
    return this.aborted !== undefined
  }
}
