// Checks whether the stored progress of an import, which says which documents are already written, still matches the
// database. If the database or one of its collections was deleted since, the import must start again, because it would
// skip these documents.

import { type DatabasePath, QueryError, type TransferConnection } from './connection.ts'
import { object } from './query-json.ts'
import { TransferError } from './record.ts'
import type { ReportData } from './report.ts'

/** True if each collection that received documents according to `report` still contains documents. */
export async function isProgressValid(
  connection: Pick<TransferConnection, 'query'>,
  database: DatabasePath,
  report: ReportData,
): Promise<boolean> {
  for (const [shown, { equal, kept, replaced, written }] of Object.entries(report.collections)) {
    if (written + equal + kept + replaced === 0) continue
    const path = [...database, ...shown.split('/')]
    const collection = object({ collection: path.pop() as string })
    const isFilled = object({ is_nonempty: object({ documents: collection }) })
    const query = object({ if: object({ exists: collection }), then: isFilled, else: false })
    const isThere = await connection.query(path, query).catch((error: unknown) => {
      if (error instanceof QueryError || error instanceof TransferError) return false
      throw error
    })
    if (isThere !== true) return false
  }
  return true
}
