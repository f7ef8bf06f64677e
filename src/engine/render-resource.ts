// The body of a successful query.

import type { Evaluation } from '../query/evaluation.ts'
import { type DatabaseId, type Ref, rootDatabase, type Value } from '../values/value.ts'
import { renderValue } from '../values/wire.ts'

/** `{"resource":…}` with references named as the request's database sees them. */
export function renderResource(value: Value, evaluation: Evaluation): string {
  const { catalogue, commitTime, snapshotTime } = evaluation.transaction
  const rendered = renderValue(value, {
    apiVersion: evaluation.apiVersion,
    transactionTime: commitTime ?? snapshotTime,
    names: {
      scope: evaluation.database,
      nameOf: (ref: Ref) => catalogue.nameOf(ref),
      parentOf: (database: DatabaseId) =>
        database === rootDatabase ? undefined : catalogue.database(database)?.ref,
    },
  })
  return rendered === undefined ? '{}' : `{"resource":${rendered}}`
}
