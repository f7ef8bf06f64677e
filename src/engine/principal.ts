// Finds the principal of a credential, and databases by name, for services other than queries (such as exports of query
// logs).

import { epoch } from '../base/micros.ts'
import type { Session } from '../model/session.ts'
import type { ReadTransaction } from '../storage/store/contract.ts'
import { collectionOf, type DatabaseId, type Micros, native, Ref, rootDatabase } from '../values/value.ts'
import { markOf } from './caller-marks.ts'
import type { DatabasePlace, NamedDatabases, Principal } from './contract.ts'

/** Returns the caller of a request as a principal. */
export function principalOf({ caller, transaction }: Session): Principal {
  const { authority, credential, database, identity } = caller
  const isAdmin = authority.kind === 'builtin' && authority.role === 'admin'
  return {
    database,
    place: placeOf(transaction, database),
    caller: markOf(caller),
    isAdmin,
    role: authority.kind === 'builtin' ? authority.role : undefined,
    identity: identity instanceof Ref ? identityName(identity, transaction) : identity,
    isRoot: isAdmin && credential === undefined && database === rootDatabase,
  }
}

function identityName(identity: Ref, { catalogue }: ReadTransaction): Principal['identity'] {
  const collection = catalogue.nameOf(collectionOf(identity))
  return collection === undefined ? undefined : { collection, id: String(identity.id) }
}

/** Returns the location of a database: names and ids of the database and its ancestors, outermost first. */
export function placeOf(
  { catalogue }: Pick<ReadTransaction, 'catalogue'>,
  database: DatabaseId,
): DatabasePlace {
  const around = catalogue.lineage(database)
  return {
    names: around.map(({ name }) => name).reverse(),
    ids: around.map(({ ref }) => ref.id).reverse(),
  }
}

/** Returns the databases along a path of names; undefined if one of them does not exist. */
export function followNames(
  transaction: ReadTransaction,
  names: readonly string[],
): NamedDatabases | undefined {
  const ids: DatabaseId[] = []
  let at = rootDatabase
  let since = epoch
  for (const name of names) {
    const child = transaction.catalogue.resolve(at, native.databases, name)
    if (!child) return undefined
    since = Math.max(since, calledSince(child, name, transaction))
    at = child.id
    ids.push(at)
  }
  return { ids, since }
}

/** Returns the time since which a database has had its name and parent, as far as its history goes back. */
function calledSince(database: Ref, name: string, transaction: ReadTransaction): Micros {
  let since = transaction.snapshotTime
  for (const { action, fields, ts } of transaction.versions(database, { reverse: true })) {
    if (action === 'delete' || fields.get('name') !== name) break
    if (typeof ts === 'number') since = ts
  }
  return since
}
