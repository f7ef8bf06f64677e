// Reads and counts rows, in smaller pages if a page is too large or too slow. A web worker parses large responses.

import { currentSecret } from '../session.ts'
import { at, listAt, parseJson, type Query, writeJson } from '../wire/json.ts'
import { documentRef, type RefName } from '../wire/refs.ts'
import type { Row, Rows } from '../wire/rows.ts'
import { runText, type TextResult } from './client.ts'
import { atPastTime, type Cursor, mapping, variable } from './data.ts'
import { ServiceError } from './faults.ts'
import { type RowSource, rowsQuery } from './row-source.ts'
import { runTextTask } from './text-task-runner.ts'

/** `size`: the page size of the request. */
interface SizedPage {
  readonly text: string
  readonly size: number
}

function runAtPastTime(query: Query, signal: AbortSignal): Promise<TextResult> {
  return runText(writeJson(atPastTime(query)), currentSecret.value, signal)
}

/** Requests a smaller page when the service rejects the page as too large or too slow. */
export async function readSizedPage(
  queryOf: (size: number) => Query,
  size: number,
  signal: AbortSignal,
): Promise<SizedPage> {
  try {
    return { text: (await runAtPastTime(queryOf(size), signal)).text, size }
  } catch (cause) {
    const isTooMuch =
      cause instanceof ServiceError && /exceeds the limit|too much|[Tt]imed? ?out/.test(cause.message)
    if (!isTooMuch || size === 1) throw cause
    return readSizedPage(queryOf, Math.max(1, Math.floor(size / 5)), signal)
  }
}

export async function readRows(
  source: RowSource,
  size: number,
  cursor: Cursor,
  signal: AbortSignal,
): Promise<Rows> {
  const { text } = await readSizedPage(smaller => rowsQuery(source, smaller, cursor), size, signal)
  return asRows(text, source)
}

/** `text`: the body of a response. */
export function asRows(text: string, { index }: RowSource): Promise<Rows> {
  return runTextTask({ kind: 'rows', text, valueNames: index?.values ?? [] }, text.length)
}

/** Reads documents again, without those that were deleted. */
export async function rereadDocuments(
  refs: readonly RefName[],
  source: RowSource,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const existing: Query = {
    filter: { lambda: 'ref', expr: { exists: variable('ref') } },
    collection: refs.map(({ collection, id }) => documentRef(collection, id)),
  }
  const query = { object: { data: mapping(existing, { get: variable() }) } }
  const { text } = await runAtPastTime(query, signal)
  return (await asRows(text, source)).rows
}

/** Larger sets are not counted exactly. */
const countedMax = 10_000

interface SetCount {
  readonly count: number
  readonly isMore: boolean
}

/** Stops at {@link countedMax}. */
export async function countOf(set: Query, signal: AbortSignal): Promise<SetCount> {
  const page = variable('page')
  const query: Query = {
    let: [{ page: { paginate: set, size: BigInt(countedMax) } }],
    in: [{ count: { select: 'data', from: page } }, { select: 'after', from: page, default: null }],
  }
  const { text } = await runAtPastTime(query, signal)
  const [count, after] = listAt(parseJson(text), 'resource')
  return { count: Number(count), isMore: at(after ?? null, 0) !== undefined }
}
