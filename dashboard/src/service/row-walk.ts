// Iterates over all rows of a plan, in pages of 200 to 2000 documents (up to 20 000 for counts without conditions, and
// fewer if the service rejects a page as too large or too slow). Each query is short, so other requests are not
// delayed, and the iteration can stop after each query.

import { at, type Json, listAt, parseJson, type Query } from '../wire/json.ts'
import { type RefName, refOf } from '../wire/refs.ts'
import type { Rows } from '../wire/rows.ts'
import { fulfils } from './conditions.ts'
import { mapping, pageOf, variable } from './data.ts'
import { asRows, readSizedPage } from './read-rows.ts'
import type { RowPlan } from './row-plan.ts'
import { elementIn, leadsToDocuments, refIn, setOf } from './row-source.ts'

const firstSize = 200
const sizeMax = 2000
/** Maximum page size of a count without conditions, which reads no documents. */
const countedSizeMax = 20_000
/** Milliseconds of a query, below which the page size doubles. */
const quickMs = 400

/** Whole documents, their references, or their number. */
type WalkResult = 'documents' | 'refs' | 'count'

/** `from`: the cursor at which an earlier walk stopped. `read`: reads the body of a response. */
async function* walk<P extends { readonly after: Json | undefined }>(
  plan: RowPlan,
  result: WalkResult,
  signal: AbortSignal,
  from: Json | undefined,
  read: (text: string) => P | Promise<P>,
): AsyncGenerator<P> {
  let after = from
  let size = firstSize
  const largest = result === 'count' && plan.conditions.length === 0 ? countedSizeMax : sizeMax
  do {
    const startedMs = performance.now()
    const sized = await readSizedPage(wanted => pageQuery(plan, result, wanted, after), size, signal)
    // If the service has rejected the page size, the walk goes on with the reduced size.
    size = sized.size
    if (performance.now() - startedMs < quickMs) size = Math.min(largest, size * 2)
    const page = await read(sized.text)
    yield page
    after = page.after
  } while (after !== undefined)
}

function pageQuery(plan: RowPlan, result: WalkResult, size: number, after: Json | undefined): Query {
  const page = variable('page')
  const elements: Query = { select: 'data', from: page }
  return {
    let: [{ page: pageOf(setOf(plan.source), size, { after }) }],
    in: {
      object: {
        data: resultOf(plan, result, elements),
        scanned: { count: elements },
        after: { select: 'after', from: page, default: null },
      },
    },
  }
}

/** Reads documents only if the result needs them. */
function resultOf({ conditions, source }: RowPlan, result: WalkResult, elements: Query): Query {
  if (conditions.length === 0) {
    if (result === 'count') return { count: elements }
    if (result === 'refs' && leadsToDocuments(source)) return mapping(elements, refIn(source, variable()))
  }
  const documents = mapping(elements, elementIn(source, variable()))
  const found: Query =
    conditions.length === 0
      ? documents
      : {
          filter: { lambda: 'document', expr: fulfils(conditions, variable('document')) },
          collection: documents,
        }
  if (result === 'count') return { count: found }
  if (result === 'documents') return found
  return mapping(found, { select: 'ref', from: variable('found'), default: variable('found') }, 'found')
}

/** Also yields empty pages. */
export function walkRows(plan: RowPlan, signal: AbortSignal, from?: Json): AsyncGenerator<Rows> {
  return walk(plan, 'documents', signal, from, text => asRows(text, plan.source))
}

/** `after`: the cursor of the next page; undefined on the last page. */
function readPage(text: string) {
  const page = at(parseJson(text), 'resource')
  return { page, scanned: Number(at(page, 'scanned')), after: at(page, 'after') ?? undefined }
}

/** Pages of documents, or of other entries of the source. */
export function walkElements(plan: RowPlan, signal: AbortSignal) {
  return walk(plan, 'documents', signal, undefined, text => {
    const { page, ...progress } = readPage(text)
    return { elements: listAt(page, 'data'), ...progress }
  })
}

export interface RefPage {
  readonly refs: readonly RefName[]
  /** Cursor of the next page; undefined on the last page. */
  readonly after: Json | undefined
}

/** Yields references of documents, without documents of native collections. */
export function walkRefs(plan: RowPlan, signal: AbortSignal, from?: Json): AsyncGenerator<RefPage> {
  return walk(plan, 'refs', signal, from, text => {
    const { page, after } = readPage(text)
    const refs = listAt(page, 'data').flatMap(each => refOf(each) ?? [])
    return { refs: refs.filter(({ isNative }) => !isNative), after }
  })
}

/** Yields the number of documents of each page that fulfil the conditions (`found`). */
export function walkCounts(plan: RowPlan, signal: AbortSignal, from?: Json) {
  return walk(plan, 'count', signal, from, text => {
    const { page, ...progress } = readPage(text)
    return { found: Number(at(page, 'data')), ...progress }
  })
}
