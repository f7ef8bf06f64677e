// Describes the callers of requests. The query log identifies callers by numbers, because the numbers of keys, roles
// and collections survive renaming; `namedCaller` converts the numbers to current names.

import { ownerOfDatabase } from '../base/admission/ticket.ts'
import { GenerationCache } from '../base/generation-cache.ts'
import type { Caller } from '../model/auth/access-contract.ts'
import type { Session } from '../model/session.ts'
import type { ReadTransaction } from '../storage/store/store-contract.ts'
import { collectionOf, type DatabaseId, isObject, native, Ref, rootDatabase } from '../values/value.ts'
import type { CallerMark, DatabasePlace, NamedCaller, Principal } from './engine-contract.ts'

export function markOf({ authority, credential, identity }: Caller): CallerMark {
  return {
    credential: credentialMark(credential),
    roles:
      authority.kind === 'builtin'
        ? [authority.role]
        : authority.kind === 'roles'
          ? authority.roles.map(roleMark)
          : [],
    identity: identity instanceof Ref ? `${identity.collection}/${identity.id}` : identity,
  }
}

/**
 * The owner is the database, or for the role `client` an address in the database: apps publish keys with this role, so
 * anyone can use them.
 */
export function budgetOwnerOf({ authority, database }: Caller, address = ''): string {
  const owner = ownerOfDatabase(database)
  return authority.kind === 'builtin' && authority.role === 'client' ? `${owner} client ${address}` : owner
}

/** Cached marks of credentials, by the id of the key or token. */
const knownMarks = new GenerationCache<bigint, { readonly of: Ref; readonly mark: string }>(1000)

function credentialMark(credential: Caller['credential']): string {
  if (credential === undefined) return 'root'
  if (!(credential instanceof Ref)) return 'provider'
  const { collection, database, id } = credential
  const known = knownMarks.get(id)
  if (known?.of.collection === collection && known.of.database === database) return known.mark
  const mark = `${collection === native.keys ? 'key' : 'token'}/${database}/${id}`
  knownMarks.set(id, { of: credential, mark })
  return mark
}

const roleMark = ({ id }: Ref) => `#${id}`

/** `database`: where the caller ran a query. A deleted role or collection keeps its number in the result. */
export function namedCaller(
  mark: CallerMark,
  database: DatabaseId,
  transaction: ReadTransaction,
): NamedCaller {
  const [kind = 'root', keyDatabase = '', id] = mark.credential.split('/')
  const isKey = kind === 'key' && id !== undefined
  return {
    kind: kind as NamedCaller['kind'],
    id,
    name: isKey ? keyName(new Ref(BigInt(keyDatabase), native.keys, BigInt(id)), transaction) : undefined,
    roles: mark.roles.map(role => roleName(role, database, transaction)),
    identity:
      mark.identity === undefined ? undefined : identityName(mark.identity, kind, database, transaction),
  }
}

/** By convention, keys without the field `name` have a name in `data`. */
function keyName(key: Ref, transaction: ReadTransaction): string | undefined {
  const fields = transaction.get(key)?.fields
  const data = fields?.get('data') ?? null
  const name = fields?.get('name') ?? (isObject(data) ? data.get('name') : undefined)
  return typeof name === 'string' ? name : undefined
}

function roleName(role: string, database: DatabaseId, { catalogue }: ReadTransaction): string {
  if (!role.startsWith('#')) return role
  return catalogue.nameOf(new Ref(database, native.roles, BigInt(role.slice(1)))) ?? role
}

/** Returns the subject of a third-party token unchanged. */
function identityName(
  identity: string,
  kind: string,
  database: DatabaseId,
  { catalogue }: ReadTransaction,
): string {
  const [, collection, id] = /^(\d+)\/(-?\d+)$/.exec(identity) ?? []
  if (kind === 'provider' || collection === undefined) return identity
  const name = catalogue.nameOf(new Ref(database, native.collections, BigInt(collection)))
  return name === undefined ? identity : `${name}/${id}`
}

export function principalOf({ caller, transaction }: Session): Principal {
  const { authority, credential, database, identity } = caller
  const isAdmin = authority.kind === 'builtin' && authority.role === 'admin'
  return {
    database,
    place: placeOf(transaction, database),
    caller: markOf(caller),
    isAdmin,
    role: authority.kind === 'builtin' ? authority.role : undefined,
    identity: identity instanceof Ref ? principalName(identity, transaction) : identity,
    isRoot: isAdmin && credential === undefined && database === rootDatabase,
  }
}

function principalName(identity: Ref, { catalogue }: ReadTransaction): Principal['identity'] {
  const collection = catalogue.nameOf(collectionOf(identity))
  return collection === undefined ? undefined : { collection, id: String(identity.id) }
}

/** Outermost first, ancestors included. */
export function placeOf(
  { catalogue }: Pick<ReadTransaction, 'catalogue'>,
  database: DatabaseId,
): DatabasePlace {
  const lineage = catalogue.lineage(database)
  return { names: lineage.map(({ name }) => name).reverse(), ids: lineage.map(({ ref }) => ref.id).reverse() }
}

/**
 * Returns the ids of the databases in a path, outermost first, or undefined if a database of the path does not exist.
 */
export function followNames(
  { catalogue }: ReadTransaction,
  names: readonly string[],
): readonly DatabaseId[] | undefined {
  const ids: DatabaseId[] = []
  for (const name of names) {
    const child = catalogue.resolve(ids.at(-1) ?? rootDatabase, native.databases, name)
    if (!child) return undefined
    ids.push(child.id)
  }
  return ids
}
