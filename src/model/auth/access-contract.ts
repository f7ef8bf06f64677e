// The types of callers and permission decisions. This layer makes the decisions. Only the layers above know the
// languages, so they pass a callback that runs the predicates of roles.

import type { ReadTransaction } from '../../storage/store/store-contract.ts'
import type { Code, LanguageName } from '../../values/code.ts'
import type { DatabaseId, ObjectValue, Ref, Value } from '../../values/value.ts'

/** The roles that need no document. */
export const builtinRoles = ['admin', 'server', 'server-readonly', 'client'] as const
export type BuiltinRole = (typeof builtinRoles)[number]

/** The actions of privileges, as role documents spell them. */
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

/** The source of rights for an action. */
export type Authority =
  | { readonly kind: 'builtin'; readonly role: BuiltinRole; readonly database: DatabaseId }
  | {
      readonly kind: 'roles'
      readonly database: DatabaseId
      /** The active role documents. */
      readonly roles: readonly Ref[]
      /** The identity document. An identity has the rights of its roles, and the rights that every identity has. */
      readonly identity: Ref | undefined
    }
  /** The authority of predicates. Predicates may read their own database without filters, and call functions. */
  | { readonly kind: 'predicate'; readonly database: DatabaseId }

/**
 * The caller of a request, according to the request's credential. A function with a role does not change the caller.
 */
export interface Caller {
  /** The database in which the request's queries run. */
  readonly database: DatabaseId
  readonly authority: Authority
  /** The identity document, or the `sub` of a third-party token. */
  readonly identity: Ref | string | undefined
  /** The key or token document, or the payload of a third-party token; undefined for the root secret. */
  readonly credential: Ref | ObjectValue | undefined
}

/** A request for permission to apply an action to a resource. */
export interface AccessRequest {
  readonly action: ResourceAction
  /**
   * The resource as named by privileges: a collection (or native collection) for its documents, an index for reading
   * its set, a function for calling it. The resource is always the reference of a schema object or native collection.
   */
  readonly resource: Ref
  /** The existing document of the action, if any. */
  readonly document?: Ref
  /**
   * Returns the argument for a predicate with this number of parameters. A single name instead of a list counts as one
   * parameter. Called only when a predicate runs.
   */
  readonly argument: (parameterCount: number) => Value
  /** The fields that a document will have after the change, for predicates of version 10. */
  readonly next?: () => ObjectValue
  /**
   * Returns the separate arguments of a call, for a predicate in `language`. Absent if `argument` returns all of them.
   */
  readonly passed?: (language: LanguageName) => readonly Value[]
  /** The function call that requires the permission, for explanations. */
  readonly callSite?: CallSite | undefined
}

/** The position of a permission check in a query. */
export interface CallSite {
  position(): readonly (string | number)[]
}

/**
 * Runs a read-only predicate with the {@link Authority} `predicate`. Every result other than exactly true is false. The
 * argument depends on the number of the predicate's parameters.
 */
export type RunPredicate = (
  predicate: Code,
  argument: AccessRequest['argument'],
  about?: PredicateSubject,
) => boolean

/**
 * The action, and the document or call that it applies to. Absent for predicates of memberships and access providers.
 */
export type PredicateSubject = Pick<AccessRequest, 'action' | 'document' | 'next' | 'passed'>

/** The outcome of a predicate: its value or its failure. Only the value true grants access. */
export type PredicateOutcome = { readonly value: Value } | { readonly failure: { readonly message: string } }

/** Runs a predicate like {@link RunPredicate}, and returns its outcome. */
export type TryPredicate = (
  predicate: Code,
  argument: AccessRequest['argument'],
  about?: PredicateSubject,
) => PredicateOutcome

/** Decides requests of one authority within one transaction. */
export interface Access {
  allows(request: AccessRequest): boolean
  /** Returns whether any privilege covers the action, unconditionally or with a predicate. Runs no predicate. */
  mentions(action: ResourceAction, resource: Ref): boolean
  /**
   * Returns whether the action is allowed on a document. Present only when the decision depends on nothing but the
   * document's collection.
   */
  allowsDocument?(action: ResourceAction, document: Ref): boolean
}

/** Creates the decisions for an authority in a transaction. */
export type CreateAccess = (
  authority: Authority,
  transaction: ReadTransaction,
  runPredicate: RunPredicate,
  options?: AccessOptions,
) => Access

/** Differences between the languages in permission decisions. */
export interface AccessOptions {
  /** True if an identity without roles may not even read its own document. */
  readonly identityNeedsRole?: boolean
}
