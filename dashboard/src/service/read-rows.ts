// Reading a page of rows: fewer at a time where a response would be too large, and large responses off the main thread.

import { pastTime } from '../router.ts'
import { scope } from '../session.ts'
import { writeJson } from '../wire/json.ts'
import type { Rows } from '../wire/rows.ts'
import { runText } from './client.ts'
import type { Cursor } from './data.ts'
import { ServiceError } from './faults.ts'
import { heavy } from './heavy.ts'
import { type RowSource, rowsQuery } from './row-source.ts'

/** The body of the response with a page of rows; asks for fewer rows when that many are too much. */
export async function readRowText(
  source: RowSource,
  size: number,
  cursor: Cursor,
  signal: AbortSignal,
): Promise<string> {
  const query = rowsQuery(source, size, cursor)
  const past = pastTime.value
  const body = writeJson(past === undefined ? query : { at: { '@ts': past }, expr: query })
  try {
    return (await runText(body, scope.value, signal)).text
  } catch (cause) {
    const isTooMuch =
      cause instanceof ServiceError && /exceeds the limit|too much|[Tt]imed? ?out/.test(cause.message)
    if (!isTooMuch || size === 1) throw cause
    return readRowText(source, Math.max(1, Math.floor(size / 5)), cursor, signal)
  }
}

/** A page of rows. */
export async function readRows(
  source: RowSource,
  size: number,
  cursor: Cursor,
  signal: AbortSignal,
): Promise<Rows> {
  const text = await readRowText(source, size, cursor, signal)
  return heavy({ kind: 'rows', text, valueNames: source.index?.values ?? [] }, text.length)
}
