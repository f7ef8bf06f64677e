// The types of callers and permission decisions, which are independent of the query languages. Higher layers pass a
// callback that runs the predicates of roles.

import type { ReadTransaction } from '../../storage/store/store-contract.ts'
import type { Code, CodeLanguageName } from '../../values/code.ts'
import type { DatabaseId, ObjectValue, Ref, Value } from '../../values/value.ts'

/** The built-in roles. All other roles are documents. */
export const builtinRoles = ['admin', 'server', 'server-readonly', 'client'] as const
export type BuiltinRole = (typeof builtinRoles)[number]

/** The actions that privileges can grant, in the spelling of role documents. */
export const resourceActions = [
  'read',
  'write',
  'create',
  'create_with_id',
  'delete',
  'history_read',
  'history_write',
  'unrestricted_read',
  'call',
] as const
export type ResourceAction = (typeof resourceActions)[number]

/** The rights with which code runs. */
export type Authority =
  | { readonly kind: 'builtin'; readonly role: BuiltinRole; readonly database: DatabaseId }
  | {
      readonly kind: 'roles'
      readonly database: DatabaseId
      /** The role documents whose privileges apply. */
      readonly roles: readonly Ref[]
      /** An identity has the rights of `roles`, and some rights to its own documents. */
      readonly identity: Ref | undefined
    }
  /** The authority of predicates. Predicates may read their database without filters, and call functions. */
  | { readonly kind: 'predicate'; readonly database: DatabaseId }

/** The client of a request, as identified by the credential. A called function's role does not change the caller. */
export interface Caller {
  /** The database in which the request's queries run. */
  readonly database: DatabaseId
  readonly authority: Authority
  /** The identity document, or the `sub` of a third-party token. */
  readonly identity: Ref | string | undefined
  /** The key or token document, or the payload of a third-party token; undefined for the root secret. */
  readonly credential: Ref | ObjectValue | undefined
}

/** The request for a decision: may the caller apply an action to a resource? */
export interface AccessRequest {
  readonly action: ResourceAction
  /**
   * A schema object or native collection: for a document its collection, for a read of a set the index, for a call the
   * function.
   */
  readonly resource: Ref
  readonly document?: Ref
  /** Returns the argument for a predicate with `parameterCount` parameters. Called only if a predicate runs. */
  readonly argument: (parameterCount: number) => Value
  /** Returns the fields of the document after the change, for predicates of version 10. */
  readonly next?: () => ObjectValue
  /**
   * Returns the list of arguments of the called function, in the form for a predicate in `language`; only for the
   * action `call`. If absent, the predicate receives the result of `argument`.
   */
  readonly passed?: (language: CodeLanguageName) => readonly Value[]
}

/** A function call in a query, to which errors and explanations refer. */
export interface CallSite {
  position(): readonly (string | number)[]
}

/**
 * Runs a read-only predicate with the {@link Authority} `predicate`. Returns false for every value except `true`, and
 * for errors.
 */
export type RunPredicate = (
  predicate: Code,
  argument: AccessRequest['argument'],
  subject?: PredicateSubject,
) => boolean

/** The part of an access request that predicates can use. Absent for predicates of memberships and access providers. */
export type PredicateSubject = Pick<AccessRequest, 'action' | 'document' | 'next' | 'passed'>

/** The outcome of a predicate: a value or a failure. Only the value `true` grants access. */
export type PredicateOutcome = { readonly value: Value } | { readonly failure: { readonly message: string } }

/** Like {@link RunPredicate}, but returns the outcome. */
export type TryPredicate = (
  predicate: Code,
  argument: AccessRequest['argument'],
  subject?: PredicateSubject,
) => PredicateOutcome

/** Decides within a transaction. */
export interface Access {
  allows(request: AccessRequest): boolean
  /** Returns whether any privilege grants the action. Predicates are not run: a privilege with a predicate counts. */
  mentions(action: ResourceAction, resource: Ref): boolean
  /** Absent if decisions depend on more than the action and the collection of the document. */
  allowsDocument?(action: ResourceAction, document: Ref): boolean
}

export type CreateAccess = (
  authority: Authority,
  transaction: ReadTransaction,
  runPredicate: RunPredicate,
  options?: AccessOptions,
) => Access

/** Rules in which the languages differ. */
export interface AccessOptions {
  /** True if an identity without roles may not read its own document. */
  readonly identityNeedsRole?: boolean
}
