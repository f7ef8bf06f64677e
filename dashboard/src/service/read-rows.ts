// Reading a page of rows: fewer at a time where a response would be too large, and large responses off the main thread.

import { pastTime } from '../router.ts'
import { scope } from '../session.ts'
import { type Query, writeJson } from '../wire/json.ts'
import type { Rows } from '../wire/rows.ts'
import { runText } from './client.ts'
import type { Cursor } from './data.ts'
import { ServiceError } from './faults.ts'
import { heavy } from './heavy.ts'
import { type RowSource, rowsQuery } from './row-source.ts'

/** A text, and the size of the page that it holds. */
interface SizedText {
  readonly text: string
  readonly size: number
}

/** The body of the response with a page; asks for a smaller one when that is too much. */
export async function readSized(
  queryOf: (size: number) => Query,
  size: number,
  signal: AbortSignal,
): Promise<SizedText> {
  const query = queryOf(size)
  const past = pastTime.value
  const body = writeJson(past === undefined ? query : { at: { '@ts': past }, expr: query })
  try {
    return { text: (await runText(body, scope.value, signal)).text, size }
  } catch (cause) {
    const isTooMuch =
      cause instanceof ServiceError && /exceeds the limit|too much|[Tt]imed? ?out/.test(cause.message)
    if (!isTooMuch || size === 1) throw cause
    return readSized(queryOf, Math.max(1, Math.floor(size / 5)), signal)
  }
}

/** A page of rows. */
export async function readRows(
  source: RowSource,
  size: number,
  cursor: Cursor,
  signal: AbortSignal,
): Promise<Rows> {
  const { text } = await readSized(smaller => rowsQuery(source, smaller, cursor), size, signal)
  return asRows(text, source)
}

/** The rows in the body of a response. */
export function asRows(text: string, { index }: RowSource): Promise<Rows> {
  return heavy({ kind: 'rows', text, valueNames: index?.values ?? [] }, text.length)
}
