// Identifies callers in the query log by numbers, which stay the same when keys, roles and collections are renamed.
// When the log is read, the numbers are converted to names.

import { GenerationCache } from '../base/generation-cache.ts'
import type { Caller } from '../model/auth/contract.ts'
import type { ReadTransaction } from '../storage/store/contract.ts'
import { type DatabaseId, isObject, native, Ref } from '../values/value.ts'
import type { CallerMark, NamedCaller } from './contract.ts'

/** Returns the mark of a caller. Runs once per request. */
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

/** Caches the marks of the keys and tokens used last, by their ids. */
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

/** Returns the names for the mark of a caller in `database`. Deleted objects keep their numbers. */
export function namedCaller(
  mark: CallerMark,
  database: DatabaseId,
  transaction: ReadTransaction,
): NamedCaller {
  const [kind = 'root', holder = '', id] = mark.credential.split('/')
  const isKey = kind === 'key' && id !== undefined
  return {
    kind: kind as NamedCaller['kind'],
    id,
    name: isKey ? keyName(new Ref(BigInt(holder), native.keys, BigInt(id)), transaction) : undefined,
    roles: mark.roles.map(role => roleName(role, database, transaction)),
    identity:
      mark.identity === undefined
        ? undefined
        : identityName(mark.identity, mark.credential, database, transaction),
  }
}

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

/** Returns the name of an identity. The subject of a third-party token is shown unchanged. */
function identityName(
  identity: string,
  credential: string,
  database: DatabaseId,
  { catalogue }: ReadTransaction,
): string {
  const [, collection, id] = /^(\d+)\/(-?\d+)$/.exec(identity) ?? []
  if (credential === 'provider' || collection === undefined) return identity
  const name = catalogue.nameOf(new Ref(database, native.collections, BigInt(collection)))
  return name === undefined ? identity : `${name}/${id}`
}
