// Runs the queries of a text one after the other.

import type { Output } from '../terminal.ts'
import type { Connection } from './connection.ts'
import { type Dialect, type Shown, TextFault, type TextQuery } from './dialect.ts'
import type { QueryText } from './report.ts'

interface RunOptions extends Omit<Shown, 'showsResult'> {
  /** Results other than the last are not shown. */
  readonly lastOnly: boolean
}

/** The queries of a text; undefined when it has a mistake, which has then been told. */
export function readText(
  dialect: Dialect,
  from: QueryText,
  stderr: Output,
): readonly TextQuery[] | undefined {
  try {
    return dialect.read(from)
  } catch (fault) {
    if (!(fault instanceof TextFault)) throw fault
    fault.show(stderr)
    return undefined
  }
}

/** Runs queries until one fails; resolves with the exit status. */
export async function runQueries(
  queries: readonly TextQuery[],
  connection: Connection,
  { lastOnly, ...shown }: RunOptions,
): Promise<number> {
  for (const [index, query] of queries.entries()) {
    const showsResult = !lastOnly || index === queries.length - 1
    if (!(await query.run(connection, { ...shown, showsResult }))) return 1
  }
  return 0
}
