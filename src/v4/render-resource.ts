// The body of a successful query, and what its rendering depends on.

import type { Session } from '../model/session.ts'
import type { Transaction } from '../store/contract.ts'
import { flat } from '../values/json-text.ts'
import { type DatabaseId, type RefTails, rootDatabase, type Value } from '../values/value.ts'
import { apiVersionOf } from './dialect.ts'
import type { RefNames } from './wire/refs.ts'
import { renderValue } from './wire/render.ts'
import type { ApiVersion } from './wire/version.ts'

type NamesOf = Pick<Transaction, 'catalogue' | 'writable'>

/**
 * `{"resource":…}` with references named as the request's database sees them. In a writing transaction, whose time is not
 * certain yet, it has to be completed by `fillTransactionTime`.
 */
export function renderResource(value: Value, session: Session): string {
  const { transaction } = session
  const apiVersion = apiVersionOf(session)
  const rendered = renderValue(value, {
    apiVersion,
    transactionTime: transaction.writable ? 'open' : transaction.snapshotTime,
    names: refNames(session.database, apiVersion, transaction),
  })
  const text = rendered === undefined ? '{}' : `{"resource":${rendered}}`
  // What waits for a commit is best one text, not the hundreds of pieces that it was put together from.
  return transaction.writable ? flat(text) : text
}

/** The names behind references, as seen from the database `scope` by clients of a version. */
export function refNames(scope: DatabaseId, apiVersion: ApiVersion, transaction: NamesOf): RefNames {
  const { catalogue, writable } = transaction
  return {
    scope,
    nameOf: ref => catalogue.nameOf(ref),
    parentOf: database => (database === rootDatabase ? undefined : catalogue.database(database)?.ref),
    isThere: collection => catalogue.hasCollection(scope, collection),
    // Who may write may change names, too.
    ...(!writable && { tails: catalogue.derived(scope, `tails in ${apiVersion}`, noTails) }),
  }
}

const noTails = (): RefTails => new Map()
