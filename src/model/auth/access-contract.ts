// The types of callers and permission decisions. This directory makes the decisions. It does not know the languages, so
// higher layers pass a callback that runs the predicates of roles.

import type { ReadTransaction } from '../../storage/store/store-contract.ts'
import type { Code, LanguageName } from '../../values/code.ts'
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

/** Determines the rights of a caller: a built-in role, role documents, or the rights of predicates. */
export type Authority =
  | { readonly kind: 'builtin'; readonly role: BuiltinRole; readonly database: DatabaseId }
  | {
      readonly kind: 'roles'
      readonly database: DatabaseId
      /** The role documents whose privileges apply. */
      readonly roles: readonly Ref[]
      /** The identity document. The caller has the rights of `roles`, and the rights that every identity has. */
      readonly identity: Ref | undefined
    }
  /** The authority of predicates. Predicates may read their own database without filters, and call functions. */
  | { readonly kind: 'predicate'; readonly database: DatabaseId }

/**
 * The caller of a request, according to the request's credential. When a function with a role runs, the caller stays
 * the same.
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

/** A question whether the caller may apply an action to a resource. */
export interface AccessRequest {
  readonly action: ResourceAction
  /**
   * The resource to which the action applies. For a document, it is the collection (or native collection). For a read
   * of a set, it is the index. For a call, it is the function. The resource is always a reference to a schema object or
   * native collection.
   */
  readonly resource: Ref
  /** The existing document to which the action applies, if any. */
  readonly document?: Ref
  /**
   * Returns the argument for a predicate with `parameterCount` parameters. A predicate of version 4 that declares a
   * single name instead of a list of names has one parameter. Called only when a predicate runs.
   */
  readonly argument: (parameterCount: number) => Value
  /** Returns the fields that the document will have after the change, for predicates of version 10. */
  readonly next?: () => ObjectValue
  /**
   * Returns the arguments of a call as a list, for a predicate in `language`. Absent if `argument` returns all
   * arguments.
   */
  readonly passed?: (language: LanguageName) => readonly Value[]
  /** The function call in the query that needs the permission, for explanations. */
  readonly callSite?: CallSite | undefined
}

/** The position of a permission check in a query. */
export interface CallSite {
  position(): readonly (string | number)[]
}

/**
 * Runs a read-only predicate with the {@link Authority} `predicate`. Returns true only if the predicate returns exactly
 * `true`. The argument depends on the number of the predicate's parameters.
 */
export type RunPredicate = (
  predicate: Code,
  argument: AccessRequest['argument'],
  about?: PredicateSubject,
) => boolean

/**
 * The action of an access request, and the document or call that the action applies to. Absent for predicates of
 * memberships and access providers.
 */
export type PredicateSubject = Pick<AccessRequest, 'action' | 'document' | 'next' | 'passed'>

/** The outcome of a predicate: its value or its failure. Only the value `true` grants access. */
export type PredicateOutcome = { readonly value: Value } | { readonly failure: { readonly message: string } }

/** Runs a predicate like {@link RunPredicate}, and returns its outcome. */
export type TryPredicate = (
  predicate: Code,
  argument: AccessRequest['argument'],
  about?: PredicateSubject,
) => PredicateOutcome

/** Decides about the access requests of one authority within one transaction. */
export interface Access {
  allows(request: AccessRequest): boolean
  /** Returns whether any privilege covers the action, with or without a predicate. Runs no predicate. */
  mentions(action: ResourceAction, resource: Ref): boolean
  /**
   * Returns whether the action is allowed on a document. Present only if decisions depend on nothing but the action and
   * the document's collection.
   */
  allowsDocument?(action: ResourceAction, document: Ref): boolean
}

/** Creates the object that decides about the access requests of an authority in a transaction. */
export type CreateAccess = (
  authority: Authority,
  transaction: ReadTransaction,
  runPredicate: RunPredicate,
  options?: AccessOptions,
) => Access

/** The rules for permission decisions that differ between the languages. */
export interface AccessOptions {
  /** True if an identity without roles cannot even read its own document. */
  readonly identityNeedsRole?: boolean
}
