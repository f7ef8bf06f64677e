// Who a credential stands for and where databases are, for the services beside queries (the export of query logs).

import type { Session } from '../model/session.ts'
import type { Transaction } from '../store/contract.ts'
import { collectionOf, type DatabaseId, native, Ref, rootDatabase } from '../values/value.ts'
import type { Principal } from './contract.ts'

/** The caller of a request as other services see it. */
export function principalOf({ caller, transaction }: Session): Principal {
  const { authority, credential, database, identity } = caller
  const isAdmin = authority.kind === 'builtin' && authority.role === 'admin'
  return {
    database,
    path: databasePath(transaction, database),
    isAdmin,
    role: authority.kind === 'builtin' ? authority.role : undefined,
    identity: identity instanceof Ref ? identityName(identity, transaction) : identity,
    isRoot: isAdmin && credential === undefined && database === rootDatabase,
  }
}

function identityName(identity: Ref, { catalogue }: Transaction): Principal['identity'] {
  const collection = catalogue.nameOf(collectionOf(identity))
  return collection === undefined ? undefined : { collection, id: String(identity.id) }
}

/** The names of a database and of those around it, outermost first; empty for the root. */
export function databasePath({ catalogue }: Pick<Transaction, 'catalogue'>, database: DatabaseId): string[] {
  return catalogue
    .lineage(database)
    .map(({ name }) => name)
    .reverse()
}

/** The ids of the databases along a path of names, outermost first; undefined when one of them does not exist. */
export function followNames(
  { catalogue }: Pick<Transaction, 'catalogue'>,
  names: readonly string[],
): DatabaseId[] | undefined {
  const ids: DatabaseId[] = []
  let at = rootDatabase
  for (const name of names) {
    const child = catalogue.resolve(at, native.databases, name)
    if (!child) return undefined
    at = child.id
    ids.push(at)
  }
  return ids
}
