// Iterates over all rows of a plan, with pages of some hundred documents. Each query is short, so other requests are
// not delayed, and the iteration can stop after each query.

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

/** Bodies with `{data, scanned, after}`. `from`: the cursor at which an earlier walk stopped. */
async function* responses(
  plan: RowPlan,
  result: WalkResult,
  signal: AbortSignal,
  from?: Json,
): AsyncGenerator<string, void, Json | undefined> {
  let after = from
  let size = firstSize
  const largest = result === 'count' && plan.conditions.length === 0 ? countedSizeMax : sizeMax
  for (;;) {
    const startedMs = performance.now()
    const read = await readSizedPage(wanted => pageQuery(plan, result, wanted, after), size, signal)
    // After the service has rejected a page size as too large, later pages have the reduced size.
    size = read.size
    if (performance.now() - startedMs < quickMs) size = Math.min(largest, size * 2)
    const next = yield read.text
    if (next === undefined) return
    after = next
  }
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
export async function* walkRows(plan: RowPlan, signal: AbortSignal, from?: Json): AsyncGenerator<Rows> {
  const walk = responses(plan, 'documents', signal, from)
  for (let step = await walk.next(); !step.done; ) {
    const rows = await asRows(step.value, plan.source)
    yield rows
    step = await walk.next(rows.after)
  }
}

interface WalkPage {
  readonly page: Json | undefined
  /** Cursor of the next page; undefined on the last page. */
  readonly after: Json | undefined
}

async function* walkPages(
  plan: RowPlan,
  result: WalkResult,
  signal: AbortSignal,
  from?: Json,
): AsyncGenerator<WalkPage> {
  const walk = responses(plan, result, signal, from)
  for (let step = await walk.next(); !step.done; ) {
    const page = at(parseJson(step.value), 'resource')
    const after = at(page, 'after') ?? undefined
    yield { page, after }
    step = await walk.next(after)
  }
}

interface ElementPage {
  /** Documents, or other entries of the source. */
  readonly elements: readonly Json[]
  readonly scanned: number
  /** Cursor of the next page; undefined on the last page. */
  readonly after: Json | undefined
}

export async function* walkElements(plan: RowPlan, signal: AbortSignal): AsyncGenerator<ElementPage> {
  for await (const { page, after } of walkPages(plan, 'documents', signal)) {
    yield { elements: listAt(page, 'data'), scanned: Number(at(page, 'scanned')), after }
  }
}

export interface RefPage {
  readonly refs: readonly RefName[]
  /** Cursor of the next page; undefined on the last page. */
  readonly after: Json | undefined
}

/** Yields references of documents, without schema documents. */
export async function* walkRefs(plan: RowPlan, signal: AbortSignal, from?: Json): AsyncGenerator<RefPage> {
  for await (const { page, after } of walkPages(plan, 'refs', signal, from)) {
    const refs = listAt(page, 'data').flatMap(each => refOf(each) ?? [])
    yield { refs: refs.filter(({ isNative }) => !isNative), after }
  }
}

interface CountPage {
  /** The number of documents that fulfil the conditions. */
  readonly found: number
  readonly scanned: number
  /** Cursor of the next page; undefined on the last page. */
  readonly after: Json | undefined
}

export async function* walkCounts(
  plan: RowPlan,
  signal: AbortSignal,
  from?: Json,
): AsyncGenerator<CountPage> {
  for await (const { page, after } of walkPages(plan, 'count', signal, from)) {
    yield { found: Number(at(page, 'data')), scanned: Number(at(page, 'scanned')), after }
  }
}
