// Derives the caller from a verified credential. All documents on which the credential depends must exist in the
// current snapshot.

import type { ReadTransaction } from '../../storage/store/store-contract.ts'
import { type DatabaseId, type ObjectValue, Ref, rootDatabase } from '../../values/value.ts'
import type { Authority, Caller, RunPredicate } from './access-contract.ts'
import { authorityOfRole, resolveRole, rolesOfIdentity } from './role.ts'
import { followPath, type Scope, targetDocument } from './scope.ts'

/** The reason for a rejection, which is logged and never sent to the client. */
export interface Rejection {
  readonly rejected: string
}

/** Returns the function that runs the predicates of memberships and access providers for `caller`. */
export type PredicatesOf = (caller: Caller) => RunPredicate

export interface Admission {
  readonly transaction: ReadTransaction
  readonly predicatesOf: PredicatesOf
}

/** The value is undefined if the secret has no suffix, and null if the suffix is invalid. */
type Suffix = Scope | null | undefined

export function rootCaller(suffix: Suffix, admission: Admission): Caller | Rejection {
  if (suffix !== undefined) return scopedCaller(suffix, 'admin', rootDatabase, undefined, admission)
  return callerWith({ kind: 'builtin', role: 'admin', database: rootDatabase })
}

export function callerWith(authority: Authority, credential?: Ref): Caller {
  return { database: authority.database, authority, identity: undefined, credential }
}

export function keyCaller(
  key: Ref,
  fields: ObjectValue,
  suffix: Suffix,
  admission: Admission,
): Caller | Rejection {
  const { transaction } = admission
  if (!transaction.catalogue.isLive(key.database)) return { rejected: 'the database of the key is gone' }
  const child = fields.get('database')
  let { database } = key
  if (child instanceof Ref) {
    database = child.id
    // When a database is moved to another parent, its keys are moved, too. A key that is still in the old parent is
    // invalid.
    if (child.database !== key.database || !transaction.catalogue.databaseAt(child))
      return { rejected: 'the database the key is for is gone' }
  }
  const role = fields.get('role')
  if (suffix !== undefined) {
    return role === 'admin' || role === 'server'
      ? scopedCaller(suffix, role, database, key, admission)
      : { rejected: 'a key of this role may not be scoped' }
  }
  return callerWith(authorityOfRole(transaction, database, role), key)
}

/** The caller's identity is the document for which the token was created. */
export function tokenCaller(token: Ref, fields: ObjectValue, admission: Admission): Caller | Rejection {
  const { transaction } = admission
  if (!transaction.catalogue.isLive(token.database)) return { rejected: 'the database of the token is gone' }
  const instance = fields.get('instance')
  if (!(instance instanceof Ref) || instance.database !== token.database) {
    return { rejected: 'the token has no identity' }
  }
  return identityCaller(instance, token, admission)
}

/**
 * The secret of an admin key may have any scope. The scope of a server key must be a document of the key's database.
 */
function scopedCaller(
  scope: Scope | null,
  keyRole: 'admin' | 'server',
  start: DatabaseId,
  credential: Ref | undefined,
  admission: Admission,
): Caller | Rejection {
  if (scope === null) return { rejected: 'the scope of the secret is invalid' }
  const { path, target } = scope
  if (keyRole === 'server' && (path.length > 0 || target.kind !== 'document')) {
    return { rejected: 'a server key may only be scoped to a document' }
  }
  const { transaction } = admission
  const database = followPath(transaction.catalogue, start, path)
  if (database === undefined) return { rejected: 'the database of the scope does not exist' }
  switch (target.kind) {
    case 'builtin':
      return callerWith({ kind: 'builtin', role: target.role, database }, credential)
    case 'role': {
      const role = resolveRole(transaction, database, target.name)
      if (!role) return { rejected: 'the role of the scope does not exist' }
      return callerWith({ kind: 'roles', database, roles: [role], identity: undefined }, credential)
    }
    case 'document': {
      const document = targetDocument(transaction.catalogue, database, target)
      if (!document) return { rejected: 'the collection of the scope does not exist' }
      return identityCaller(document, credential, admission)
    }
  }
}

/** The caller has the current roles of the identity. */
export function identityCaller(
  identity: Ref,
  credential: Ref | undefined,
  { transaction, predicatesOf }: Admission,
): Caller | Rejection {
  if (!transaction.get(identity)) return { rejected: 'the identity does not exist' }
  const { database } = identity
  const callerWithRoles = (roles: readonly Ref[]): Caller => ({
    database,
    authority: { kind: 'roles', database, roles, identity },
    identity,
    credential,
  })
  return callerWithRoles(rolesOfIdentity(transaction, identity, predicatesOf(callerWithRoles([]))))
}
