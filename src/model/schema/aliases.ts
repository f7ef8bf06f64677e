// Second names of collections and functions.

import type { Transaction } from '../../store/contract.ts'
import type { DatabaseId, Ref } from '../../values/value.ts'

/** The schema objects of a native collection by their alias. */
export function aliasesOf(
  database: DatabaseId,
  nativeCollection: number,
  transaction: Transaction,
): ReadonlyMap<string, Ref> {
  return transaction.catalogue.derived(database, `aliases of ${nativeCollection}`, () => {
    const aliases = new Map<string, Ref>()
    for (const { document } of transaction.documents(database, nativeCollection, {})) {
      const alias = transaction.get(document)?.fields.get('alias')
      if (typeof alias === 'string') aliases.set(alias, document)
    }
    return aliases
  })
}
