// Handles the `data` of schema objects if it cannot be written when the objects are created. Either `data` refers to
// documents, which are created later, or the objects come from schema files, which cannot contain `data`. It is written
// after the documents.

import type { Json } from '../values/value.ts'
import { type DatabasePath, QueryError, type TransferConnection } from './connection.ts'
import { isSupplement } from './fsl.ts'
import { literal, object } from './query-json.ts'
import type { SchemaRecord } from './record.ts'
import type { SchemaFinding } from './report.ts'
import { hasLateData, referenceTo } from './schema-writer.ts'

interface PendingRecord {
  readonly path: DatabasePath
  readonly record: SchemaRecord
}

/**
 * Returns whether a record has `data` that is written at the end. For an object that no schema file defines, the
 * supplement then changes nothing, because the object was created with its `data`.
 */
const isLate = (record: SchemaRecord) =>
  hasLateData(record) || (record.params.has('data') && isSupplement(record.params))

const kindOf = ({ object: kind }: SchemaRecord) => kind.replace('_', ' ')

/** The `data` that an import writes after its documents. */
export class LateData {
  readonly #waiting: PendingRecord[] = []

  /**
   * Adds those `records` of a database that may have been created without their data, according to `findings`.
   * `continues`: an earlier part of the import may have created them.
   */
  add(
    path: DatabasePath,
    records: readonly SchemaRecord[],
    findings: readonly SchemaFinding[],
    continues: boolean,
  ): void {
    const outcomes = new Map(findings.map(({ kind, name, outcome }) => [`${kind} ${name}`, outcome]))
    for (const record of records.filter(isLate)) {
      const outcome = outcomes.get(`${kindOf(record)} ${record.name}`)
      if (outcome === 'created' || (continues && outcome !== 'failed')) this.#waiting.push({ path, record })
    }
  }

  /** Writes the `data` of each object that has no `data` yet. Returns the objects whose `data` was rejected. */
  async give(connection: Pick<TransferConnection, 'query'>): Promise<readonly SchemaFinding[]> {
    const refused: SchemaFinding[] = []
    for (const waiting of this.#waiting) {
      const reason = await giveData(connection, waiting)
      if (reason === undefined) continue
      const { path, record } = waiting
      const about = { database: path.join('/'), kind: kindOf(record), name: record.name }
      refused.push({ ...about, outcome: 'failed', reason: `it has no data: ${reason}` })
    }
    return refused
  }
}

/** Resolves with the reason if the data is rejected. */
async function giveData(
  connection: Pick<TransferConnection, 'query'>,
  { path, record }: PendingRecord,
): Promise<string | undefined> {
  const ref = referenceTo(record)
  const hasData = object({ contains: 'data', in: object({ get: ref }) })
  const data = object({ object: object({ data: literal(record.params.get('data') as Json) }) })
  const change = object({ update: ref, params: data })
  try {
    await connection.query(path, object({ if: hasData, then: null, else: change }))
    return undefined
  } catch (error) {
    if (error instanceof QueryError) return error.message
    throw error
  }
}
