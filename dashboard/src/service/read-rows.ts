// Reading rows: fewer at a time where a response would be too large, and large responses off the main thread. And counting
// them.

import { pastTime } from '../router.ts'
import { scope } from '../session.ts'
import { at, listAt, parseJson, type Query, writeJson } from '../wire/json.ts'
import { documentRef, type RefName } from '../wire/refs.ts'
import type { Row, Rows } from '../wire/rows.ts'
import { runText } from './client.ts'
import { type Cursor, mapping, variable } from './data.ts'
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

/** Documents as they are now; those that are gone are not among them. */
export async function readAgain(
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
  const { text } = await readSized(query, 1, signal)
  return (await asRows(text, source)).rows
}

/** How many elements are counted exactly. */
const countedMax = 10_000

/** How many there are of a set. */
interface Counted {
  readonly count: number
  readonly isMore: boolean
}

/** Counts the elements of a set as far as that is cheap. */
export async function countOf(set: Query, signal: AbortSignal): Promise<Counted> {
  const page = variable('page')
  const query: Query = {
    let: [{ page: { paginate: set, size: BigInt(countedMax) } }],
    in: [{ count: { select: 'data', from: page } }, { select: 'after', from: page, default: null }],
  }
  const { text } = await readSized(() => query, 1, signal)
  const [count, after] = listAt(parseJson(text), 'resource')
  return { count: Number(count), isMore: at(after ?? null, 0) !== undefined }
}
