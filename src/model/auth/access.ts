// Decides permissions. A table contains the rights of built-in roles, and role documents those of custom roles. An
// identity also has some rights to its own document, credentials and tokens. Actions without a grant are denied.
// Explicit denials do not exist.

import type { ReadTransaction } from '../../storage/store/store-contract.ts'
import type { Code } from '../../values/code.ts'
import { timeFromMicros } from '../../values/time.ts'
import { type CollectionId, collectionOf, type DatabaseId, native, Ref, sameRef } from '../../values/value.ts'
import type {
  Access,
  AccessOptions,
  AccessRequest,
  Authority,
  CreateAccess,
  ResourceAction,
  RunPredicate,
} from './access-contract.ts'
import { builtinAllows, predicateAllows, resourceKind } from './builtin-role.ts'
import { findRole, type Grant, type Role } from './role.ts'

export const createAccess: CreateAccess = (authority, transaction, runPredicate, options = {}) => {
  switch (authority.kind) {
    case 'builtin': {
      const { role, database } = authority
      const { catalogue } = transaction
      return new CollectionAccess(
        request => builtinAllows(role, database, request, catalogue),
        transaction.writable,
      )
    }
    case 'predicate':
      return new CollectionAccess(
        request => predicateAllows(authority.database, request),
        transaction.writable,
      )
    case 'roles':
      return new RolesAccess(authority, transaction, runPredicate, options)
  }
}

/** Decisions depend only on the action and the resource. */
class CollectionAccess implements Access {
  readonly allows: (request: AccessRequest) => boolean
  readonly #isChanging: boolean
  /** Consecutive checks usually have the same collection, so a cache of one decision is sufficient. */
  #latest:
    | {
        readonly action: ResourceAction
        readonly database: DatabaseId
        readonly collection: CollectionId
        readonly isAllowed: boolean
      }
    | undefined

  /** `isChanging`: the transaction may move databases, which can change decisions, so they are not cached. */
  constructor(allows: (request: AccessRequest) => boolean, isChanging: boolean) {
    this.allows = allows
    this.#isChanging = isChanging
  }

  mentions(action: ResourceAction, resource: Ref): boolean {
    return this.allows({ action, resource, argument: () => null })
  }

  allowsDocument(action: ResourceAction, document: Ref): boolean {
    const { collection, database } = document
    const latest = this.#latest
    const isKnown =
      latest?.collection === collection && latest.database === database && latest.action === action
    if (isKnown) return latest.isAllowed
    const isAllowed = this.mentions(action, collectionOf(document))
    if (!this.#isChanging) this.#latest = { action, database, collection, isAllowed }
    return isAllowed
  }
}

/** The authority of an identity, or the authority of roles without an identity. */
export type RolesAuthority = Extract<Authority, { readonly kind: 'roles' }>

class RolesAccess implements Access {
  readonly #authority: RolesAuthority
  readonly #transaction: ReadTransaction
  readonly #runPredicate: RunPredicate
  readonly #options: AccessOptions
  #roles: readonly Role[] | undefined
  /** Consecutive checks usually have the same collection, so a cache of one grant is sufficient. */
  #latest: { readonly action: ResourceAction; readonly resource: Ref; readonly grant: Grant } | undefined

  constructor(
    authority: RolesAuthority,
    transaction: ReadTransaction,
    runPredicate: RunPredicate,
    options: AccessOptions,
  ) {
    this.#options = options
    this.#authority = authority
    this.#transaction = transaction
    this.#runPredicate = runPredicate
  }

  allows(request: AccessRequest): boolean {
    if (request.resource.database !== this.#authority.database) return false
    if (identityAllows(this.#authority, request, this.#transaction, this.#options)) return true
    if (this.#granted(request.action, request)) return true
    return request.action === 'create_with_id' && this.#allowedPiecemeal(request)
  }

  mentions(action: ResourceAction, resource: Ref): boolean {
    if (resource.database !== this.#authority.database) return false
    return this.#existingRoles.some(role => grantOf(role, action, resource) !== undefined)
  }

  get #existingRoles(): readonly Role[] {
    this.#roles ??= this.#authority.roles.flatMap(ref => findRole(this.#transaction, ref) ?? [])
    return this.#roles
  }

  /** `create` and `history_write` together are equivalent to `create_with_id`. */
  #allowedPiecemeal(request: AccessRequest): boolean {
    return piecesOf(request, this.#transaction).every(piece => this.#granted(piece.action, piece))
  }

  #granted(action: ResourceAction, request: AccessRequest): boolean {
    const grant = this.#grantOfAll(action, request.resource)
    if (grant === true) return true
    return grant.some(predicate => this.#runPredicate(predicate, request.argument, request))
  }

  #grantOfAll(action: ResourceAction, resource: Ref): Grant {
    const latest = this.#latest
    if (latest?.action === action && sameRef(latest.resource, resource)) return latest.grant
    const grant = combinedGrant(this.#existingRoles, action, resource)
    this.#latest = { action, resource, grant }
    return grant
  }
}

/** Without a grant, the list of predicates is empty. */
function combinedGrant(roles: readonly Role[], action: ResourceAction, resource: Ref): Grant {
  const predicates: Code[] = []
  for (const role of roles) {
    const grant = grantOf(role, action, resource)
    if (grant === true) return true
    if (grant !== undefined) predicates.push(...grant)
  }
  return predicates
}

function grantOf({ privileges }: Role, action: ResourceAction, { collection, id }: Ref): Grant | undefined {
  return privileges.get(collection)?.get(id)?.get(action)
}

/** The two requests that together are equivalent to a request for `create_with_id`. */
export function piecesOf(
  request: AccessRequest,
  { snapshotTime }: ReadTransaction,
): readonly AccessRequest[] {
  const fields = () => request.argument(1)
  const version = () => [request.document ?? null, timeFromMicros(snapshotTime), 'create', fields()]
  return [
    { ...request, action: 'create', argument: fields },
    { ...request, action: 'history_write', argument: version },
  ]
}

/** Returns whether an identity has the right without any role. */
export function identityAllows(
  { identity, roles }: RolesAuthority,
  { action, resource, document }: AccessRequest,
  transaction: ReadTransaction,
  { identityNeedsRole = false }: AccessOptions,
): boolean {
  if (!identity || !document) return false
  switch (resourceKind(resource)) {
    case 'credentials':
      return action === 'read' && belongsTo(identity, document, native.credentials, transaction)
    case 'tokens':
      if (action !== 'read' && action !== 'delete') return false
      return belongsTo(identity, document, native.tokens, transaction)
    case 'documents':
      return action === 'read' && roles.length === 0 && !identityNeedsRole && sameRef(document, identity)
    default:
      return false
  }
}

function belongsTo(identity: Ref, document: Ref, collection: number, transaction: ReadTransaction): boolean {
  if (document.collection !== collection || document.database !== identity.database) return false
  const instance = transaction.get(document)?.fields.get('instance')
  return instance instanceof Ref && sameRef(instance, identity)
}
