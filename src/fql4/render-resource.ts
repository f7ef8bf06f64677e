// Renders the body of a successful query.

import type { Session } from '../model/session.ts'
import type { Transaction } from '../storage/store/contract.ts'
import { flat } from '../values/json-text.ts'
import { type DatabaseId, type RefTails, rootDatabase, type Value } from '../values/value.ts'
import { apiVersionOf } from './dialect.ts'
import type { RefNames } from './wire/refs.ts'
import { renderValue } from './wire/render.ts'
import type { ApiVersion } from './wire/version.ts'

type NamesOf = Pick<Transaction, 'catalogue' | 'writable'>

/**
 * `{"resource":…}` with references named as in the request's database. In a writing transaction, whose time is not
 * final yet, `fillTransactionTime` must complete the body.
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
  // A body that waits for a commit is kept as one flat string instead of hundreds of pieces.
  return transaction.writable ? flat(text) : text
}

/** The names of references as clients of a version see them from the database `scope`. */
export function refNames(scope: DatabaseId, apiVersion: ApiVersion, transaction: NamesOf): RefNames {
  const { catalogue, writable } = transaction
  return {
    scope,
    nameOf: ref => catalogue.nameOf(ref),
    parentOf: database => (database === rootDatabase ? undefined : catalogue.database(database)?.ref),
    isThere: collection => catalogue.hasCollection(scope, collection),
    // A writing transaction may change names, so it uses no cached tails.
    ...(!writable && { tails: catalogue.derived(scope, `tails in ${apiVersion}`, noTails) }),
  }
}

const noTails = (): RefTails => new Map()
