// Checks whether the stored progress of an import, which says which documents are already written, still matches the
// database. If the database or one of its collections was deleted since, the import must start again, because it would
// skip these documents.

import type { Json } from '../values/value.ts'
import { type DatabasePath, QueryError, type TransferConnection } from './connection.ts'
import { object } from './query-json.ts'
import type { ReportData } from './report.ts'

type Connection = Pick<TransferConnection, 'query'>

/**
 * Returns whether each collection that had received documents according to `report` still contains documents. Throws the
 * errors of the connection, and {@link QueryError} if the secret is invalid.
 */
export async function isProgressValid(
  connection: Connection,
  database: DatabasePath,
  report: ReportData,
): Promise<boolean> {
  for (const [shownPath, { equal, kept, replaced, written }] of Object.entries(report.collections)) {
    if (written + equal + kept + replaced === 0) continue
    const path = [...database, ...shownPath.split('/')]
    const query = isFilled(path.pop() as string)
    try {
      if ((await connection.query(path, query)) !== true) return false
    } catch (error) {
      // The error for a missing database is the error for an invalid secret.
      const isUnauthorized = error instanceof QueryError && error.code === 'unauthorized'
      if (isUnauthorized && !(await isDatabase(connection, path))) return false
      throw error
    }
  }
  return true
}

/**
 * Returns a query that evaluates to false if the collection is missing or empty. The name `credentials` refers to the
 * native collection, unless a user collection has the same name.
 */
function isFilled(name: string): Json {
  const collection = object({ collection: name })
  const isNonempty = object({ is_nonempty: object({ documents: collection }) })
  return object({ if: object({ exists: collection }), then: isNonempty, else: false })
}

async function isDatabase(connection: Connection, path: DatabasePath): Promise<boolean> {
  for (const [at, name] of path.entries()) {
    const query = object({ exists: object({ database: name }) })
    if ((await connection.query(path.slice(0, at), query)) !== true) return false
  }
  return true
}
