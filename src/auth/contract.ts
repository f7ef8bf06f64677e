// Who asks, and what they may do. Decisions are made here; running a role's predicate is for the layers
// above, which know the languages, and arrives as a callback.

import type { Transaction } from '../store/contract.ts'
import type { Code, LanguageName } from '../values/code.ts'
import type { DatabaseId, ObjectValue, Ref, Value } from '../values/value.ts'

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

/** In whose name something is done. */
export type Authority =
  | { readonly kind: 'builtin'; readonly role: BuiltinRole; readonly database: DatabaseId }
  | {
      readonly kind: 'roles'
      readonly database: DatabaseId
      /** The role documents in force. */
      readonly roles: readonly Ref[]
      /** The document logged in as: has the rights every identity has, whatever its roles. */
      readonly identity: Ref | undefined
    }
  /** What predicates run as: reads its own database without filters, nothing else. */
  | { readonly kind: 'predicate'; readonly database: DatabaseId }

/** The caller of a request, as its credential says. Stays the same inside functions that have a role. */
export interface Caller {
  /** The database in which the request's queries run. */
  readonly database: DatabaseId
  readonly authority: Authority
  /** The identity document, or the `sub` of a third-party token. */
  readonly identity: Ref | string | undefined
  /** The key or token document used, or the payload of a third-party token; undefined for the root secret. */
  readonly credential: Ref | ObjectValue | undefined
}

/** Something that an action is applied to. */
export interface AccessRequest {
  readonly action: ResourceAction
  /**
   * What the privilege names: a collection (native ones too) for its documents, an index for reading its set, a
   * function for calling it. Always a schema object's or native collection's own reference.
   */
  readonly resource: Ref
  /** The document acted on, where there is one already. */
  readonly document?: Ref
  /** What a predicate with that many parameters (a plain name counts as one) is given; asked for only when one runs. */
  readonly argument: (parameterCount: number) => Value
  /** The fields that a document will have once it is changed, which predicates of version 10 are given. */
  readonly next?: () => ObjectValue
  /** The arguments of a call one by one, for a predicate of that language; absent if `argument` stands for all of them. */
  readonly passed?: (language: LanguageName) => readonly Value[]
  /** The call that asks, for explanations. */
  readonly asker?: Asker | undefined
}

/** Where in a query a question about rights comes from. */
export interface Asker {
  position(): readonly (string | number)[]
}

/**
 * Runs a predicate with read-only effect as {@link Authority} `predicate`; anything but exactly true is false. What it is
 * given depends on the number of its parameters.
 */
export type RunPredicate = (
  predicate: Code,
  argument: AccessRequest['argument'],
  about?: PredicateSubject,
) => boolean

/** What is to be done to which document, or is called; absent where neither is: memberships, tokens of others. */
export type PredicateSubject = Pick<AccessRequest, 'action' | 'document' | 'next' | 'passed'>

/** What a predicate came to: a value, of which only exactly true grants anything, or its failure. */
export type PredicateOutcome = { readonly value: Value } | { readonly failure: { readonly message: string } }

/** Runs a predicate as {@link RunPredicate} does, and tells what came of it. */
export type TryPredicate = (
  predicate: Code,
  argument: AccessRequest['argument'],
  about?: PredicateSubject,
) => PredicateOutcome

/** Decides requests of one authority within one transaction. */
export interface Access {
  allows(request: AccessRequest): boolean
  /** Whether there is anything that lets the authority do this, on whatever condition: no predicate runs. */
  mentions(action: ResourceAction, resource: Ref): boolean
  /** Whether it may do this to a document. There, where that depends on nothing of the document but its collection. */
  allowsDocument?(action: ResourceAction, document: Ref): boolean
}

/** Makes what an authority may do, as of one transaction. */
export type CreateAccess = (
  authority: Authority,
  transaction: Transaction,
  runPredicate: RunPredicate,
  options?: AccessOptions,
) => Access

/** Where languages differ. */
export interface AccessOptions {
  /** Who has no role does not read the own document, either. */
  readonly identityNeedsRole?: boolean
}
