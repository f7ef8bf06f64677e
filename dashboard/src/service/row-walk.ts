// Walks over all that a plan finds, some hundred documents with each query: a query ends soon, so nobody else waits for it,
// and between two of them the walk can be given up.

import { at, type Json, listAt, parseJson, type Query } from '../wire/json.ts'
import { type RefName, refOf } from '../wire/refs.ts'
import type { Rows } from '../wire/rows.ts'
import { fulfils } from './conditions.ts'
import { mapping, pageOf, variable } from './data.ts'
import { asRows, readSized } from './read-rows.ts'
import type { RowPlan } from './row-plan.ts'
import { elementIn, leadsToDocuments, refIn, setOf } from './row-source.ts'

const firstSize = 200
const sizeMax = 2000
/** Elements of a page of which only the number is returned, and no document is read. */
const countedSizeMax = 20_000
/** A query that took less leaves room for a larger page. */
const quickMs = 100

/** What a walk returns of the documents. */
type Taken = 'documents' | 'refs' | 'count'

/** The texts of responses, `{data, looked, after}` each; `from` is the cursor of an earlier walk. */
async function* texts(
  plan: RowPlan,
  taken: Taken,
  signal: AbortSignal,
  from?: Json,
): AsyncGenerator<string, void, Json | undefined> {
  let after = from
  let size = firstSize
  const largest = taken === 'count' && plan.conditions.length === 0 ? countedSizeMax : sizeMax
  for (;;) {
    const startedMs = performance.now()
    const read = await readSized(wanted => stretchQuery(plan, taken, wanted, after), size, signal)
    // A page that had to be smaller stays so.
    size = read.size
    if (performance.now() - startedMs < quickMs) size = Math.min(largest, size * 2)
    const next = yield read.text
    if (next === undefined) return
    after = next
  }
}

function stretchQuery(plan: RowPlan, taken: Taken, size: number, after: Json | undefined): Query {
  const page = variable('page')
  const elements: Query = { select: 'data', from: page }
  return {
    let: [{ page: pageOf(setOf(plan.source), size, { after }) }],
    in: {
      object: {
        data: takenOf(plan, taken, elements),
        looked: { count: elements },
        after: { select: 'after', from: page, default: null },
      },
    },
  }
}

/** What is returned of the elements of a page, as an expression. Documents are read only where that needs them. */
function takenOf({ conditions, source }: RowPlan, taken: Taken, elements: Query): Query {
  if (conditions.length === 0) {
    if (taken === 'count') return { count: elements }
    if (taken === 'refs' && leadsToDocuments(source)) return mapping(elements, refIn(source, variable()))
  }
  const documents = mapping(elements, elementIn(source, variable()))
  const found: Query =
    conditions.length === 0
      ? documents
      : {
          filter: { lambda: 'document', expr: fulfils(conditions, variable('document')) },
          collection: documents,
        }
  if (taken === 'count') return { count: found }
  if (taken === 'documents') return found
  return mapping(found, { select: 'ref', from: variable('found'), default: variable('found') }, 'found')
}

/** Pages of rows, also empty ones. */
export async function* walkRows(plan: RowPlan, signal: AbortSignal, from?: Json): AsyncGenerator<Rows> {
  const walk = texts(plan, 'documents', signal, from)
  for (let step = await walk.next(); !step.done; ) {
    const rows = await asRows(step.value, plan.source)
    yield rows
    step = await walk.next(rows.after)
  }
}

/** A page of what a walk has taken. */
interface Stretch {
  readonly page: Json | undefined
  /** Where the next page begins; undefined after the last one. */
  readonly after: Json | undefined
}

async function* stretches(
  plan: RowPlan,
  taken: Taken,
  signal: AbortSignal,
  from?: Json,
): AsyncGenerator<Stretch> {
  const walk = texts(plan, taken, signal, from)
  for (let step = await walk.next(); !step.done; ) {
    const page = at(parseJson(step.value), 'resource')
    const after = at(page, 'after') ?? undefined
    yield { page, after }
    step = await walk.next(after)
  }
}

/** The elements as they came: documents, or what else a source holds. */
export async function* walkElements(plan: RowPlan, signal: AbortSignal): AsyncGenerator<readonly Json[]> {
  for await (const { page } of stretches(plan, 'documents', signal)) yield listAt(page, 'data')
}

/** A page of names of documents. */
export interface RefPage {
  readonly refs: readonly RefName[]
  /** Where the next page begins; undefined after the last one. */
  readonly after: Json | undefined
}

/** What documents are called, a page of names at a time; schema documents are left out. */
export async function* walkRefs(plan: RowPlan, signal: AbortSignal, from?: Json): AsyncGenerator<RefPage> {
  for await (const { page, after } of stretches(plan, 'refs', signal, from)) {
    const refs = listAt(page, 'data').flatMap(each => refOf(each) ?? [])
    yield { refs: refs.filter(({ isNative }) => !isNative), after }
  }
}

/** The numbers of a page of documents. */
interface CountPage {
  /** Documents that fulfil the conditions. */
  readonly found: number
  /** Documents that were read. */
  readonly looked: number
  /** Where the next page begins; undefined after the last one. */
  readonly after: Json | undefined
}

/** How many documents there are, a page at a time. */
export async function* walkCounts(
  plan: RowPlan,
  signal: AbortSignal,
  from?: Json,
): AsyncGenerator<CountPage> {
  for await (const { page, after } of stretches(plan, 'count', signal, from)) {
    yield { found: Number(at(page, 'data')), looked: Number(at(page, 'looked')), after }
  }
}
