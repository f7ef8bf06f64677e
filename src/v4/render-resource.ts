// The body of a successful query, and what its rendering depends on.

import type { Session } from '../model/session.ts'
import type { Transaction } from '../store/contract.ts'
import { flat } from '../values/json-text.ts'
import { type DatabaseId, type Ref, rootDatabase, type Value } from '../values/value.ts'
import { apiVersionOf } from './dialect.ts'
import type { RefNames } from './wire/refs.ts'
import { renderValue } from './wire/render.ts'

/**
 * `{"resource":…}` with references named as the request's database sees them. In a writing transaction, whose time is not
 * certain yet, it has to be completed by `fillTransactionTime`.
 */
export function renderResource(value: Value, session: Session): string {
  const { transaction } = session
  const rendered = renderValue(value, {
    apiVersion: apiVersionOf(session),
    transactionTime: transaction.writable ? 'open' : transaction.snapshotTime,
    names: refNames(session.database, transaction),
  })
  const text = rendered === undefined ? '{}' : `{"resource":${rendered}}`
  // What waits for a commit is best one text, not the hundreds of pieces that it was put together from.
  return transaction.writable ? flat(text) : text
}

/** The names behind references, as seen from the database `scope`. */
export function refNames(scope: DatabaseId, { catalogue }: Pick<Transaction, 'catalogue'>): RefNames {
  return {
    scope,
    nameOf: (ref: Ref) => catalogue.nameOf(ref),
    parentOf: (database: DatabaseId) =>
      database === rootDatabase ? undefined : catalogue.database(database)?.ref,
  }
}
