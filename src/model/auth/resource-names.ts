// The resources in the privileges and memberships of roles: version 4 stores references, and version 10 stores names.

import type { ReadTransaction } from '../../storage/store/store-contract.ts'
import { type DatabaseId, native, Ref, type Value } from '../../values/value.ts'

/** The native collections by their names in version 10. `Credentials` is an older name. */
const natives: ReadonlyMap<string, number> = new Map([
  ['AccessProvider', native.access_providers],
  ['Collection', native.collections],
  ['Credential', native.credentials],
  ['Credentials', native.credentials],
  ['Database', native.databases],
  ['Function', native.functions],
  ['Key', native.keys],
  ['Role', native.roles],
  ['Token', native.tokens],
])

function nativeRef(database: DatabaseId, name: string): Ref | undefined {
  const number = natives.get(name)
  return number === undefined ? undefined : new Ref(database, native.collections, BigInt(number))
}

/** The resource of a privilege. `stored` is a reference, or the name or alias of a collection or function. */
export function privilegeResource(
  stored: Value | undefined,
  database: DatabaseId,
  transaction: ReadTransaction,
): Ref | undefined {
  if (stored instanceof Ref) return stored.database === database ? stored : undefined
  if (typeof stored !== 'string') return undefined
  return (
    nativeRef(database, stored) ??
    named(native.collections, stored, database, transaction) ??
    named(native.functions, stored, database, transaction)
  )
}

function named(
  kind: number,
  name: string,
  database: DatabaseId,
  transaction: ReadTransaction,
): Ref | undefined {
  const found = transaction.catalogue.resolve(database, kind, name)
  return found ?? aliasesOf(database, kind, transaction).get(name)
}

/** The collection of a membership. `stored` is a reference or a name of a collection, but not an alias. */
export function memberCollection(
  stored: Value | undefined,
  database: DatabaseId,
  { catalogue }: ReadTransaction,
): Ref | undefined {
  if (stored instanceof Ref) return stored
  if (typeof stored !== 'string') return undefined
  return nativeRef(database, stored) ?? catalogue.resolve(database, native.collections, stored)
}

/** The collections or functions by alias. `kind`: `native.collections` or `native.functions`. */
export function aliasesOf(
  database: DatabaseId,
  kind: number,
  transaction: ReadTransaction,
): ReadonlyMap<string, Ref> {
  return transaction.catalogue.derived(database, `aliases in ${kind}`, () => {
    const aliases = new Map<string, Ref>()
    for (const { document } of transaction.documents(database, kind, {})) {
      const alias = transaction.get(document)?.fields.get('alias')
      if (typeof alias === 'string') aliases.set(alias, document)
    }
    return aliases
  })
}
