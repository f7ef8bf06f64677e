// Reads and counts rows. If a response would be too large, smaller pages are read. A web worker parses large responses.

import { currentSecret } from '../session.ts'
import { at, listAt, parseJson, type Query, writeJson } from '../wire/json.ts'
import { documentRef, type RefName } from '../wire/refs.ts'
import type { Row, Rows } from '../wire/rows.ts'
import { runText } from './client.ts'
import { atPastTime, type Cursor, mapping, variable } from './data.ts'
import { ServiceError } from './faults.ts'
import { type RowSource, rowsQuery } from './row-source.ts'
import { runTextTask } from './text-task-runner.ts'

/** `size`: the page size of the request. */
interface SizedPage {
  readonly text: string
  readonly size: number
}

/** Requests a smaller page when the service rejects the page as too large. */
export async function readSizedPage(
  queryOf: (size: number) => Query,
  size: number,
  signal: AbortSignal,
): Promise<SizedPage> {
  const body = writeJson(atPastTime(queryOf(size)))
  try {
    return { text: (await runText(body, currentSecret.value, signal)).text, size }
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
  const query = (): Query => ({
    object: {
      data: mapping(
        {
          filter: { lambda: 'ref', expr: { exists: variable('ref') } },
          collection: refs.map(({ collection, id }) => documentRef(collection, id)),
        },
        { get: variable() },
      ),
    },
  })
  const { text } = await readSizedPage(query, 1, signal)
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
  const { text } = await readSizedPage(() => query, 1, signal)
  const [count, after] = listAt(parseJson(text), 'resource')
  return { count: Number(count), isMore: at(after ?? null, 0) !== undefined }
}
