// Walks over all that a plan finds, some hundred documents with each query: a query ends soon, so nobody else waits for it,
// and between two of them the walk can be given up.

import { at, type Json, listAt, parseJson, type Query } from '../wire/json.ts'
import { type RefName, refOf } from '../wire/refs.ts'
import type { Rows } from '../wire/rows.ts'
import { fulfils } from './conditions.ts'
import { mapping, pageOf, variable } from './data.ts'
import { asRows, readSized } from './read-rows.ts'
import type { RowPlan } from './row-plan.ts'
import { elementIn, setOf } from './row-source.ts'

const firstSize = 200
const sizeMax = 2000
/** A query that took less leaves room for a larger page. */
const quickMs = 100

/** What a walk asks for of each document. */
type Taken = 'documents' | 'refs'

/** The texts of responses, `{data, looked, after}` each; `from` is the cursor of an earlier walk. */
async function* texts(
  plan: RowPlan,
  taken: Taken,
  signal: AbortSignal,
  from?: Json,
): AsyncGenerator<string, void, Json | undefined> {
  let after = from
  let size = firstSize
  for (;;) {
    const startedMs = performance.now()
    const read = await readSized(wanted => stretchQuery(plan, taken, wanted, after), size, signal)
    // A page that had to be smaller stays so.
    size = read.size
    if (performance.now() - startedMs < quickMs) size = Math.min(sizeMax, size * 2)
    const next = yield read.text
    if (next === undefined) return
    after = next
  }
}

function stretchQuery(
  { conditions, source }: RowPlan,
  taken: Taken,
  size: number,
  after: Json | undefined,
): Query {
  const page = variable('page')
  const elements: Query = { select: 'data', from: page }
  const documents = mapping(elements, elementIn(source, variable()))
  const found: Query =
    conditions.length === 0
      ? documents
      : {
          filter: { lambda: 'document', expr: fulfils(conditions, variable('document')) },
          collection: documents,
        }
  const refs = mapping(found, { select: 'ref', from: variable('found'), default: variable('found') }, 'found')
  return {
    let: [{ page: pageOf(setOf(source), size, { after }) }],
    in: {
      object: {
        data: taken === 'refs' ? refs : found,
        looked: { count: elements },
        after: { select: 'after', from: page, default: null },
      },
    },
  }
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

/** The elements as they came: documents, or what else a source holds. */
export async function* walkElements(plan: RowPlan, signal: AbortSignal): AsyncGenerator<readonly Json[]> {
  const walk = texts(plan, 'documents', signal)
  for (let step = await walk.next(); !step.done; ) {
    const page = at(parseJson(step.value), 'resource')
    yield listAt(page, 'data')
    step = await walk.next(at(page, 'after') ?? undefined)
  }
}

/** What documents are called, a page of names at a time. */
export async function* walkRefs(plan: RowPlan, signal: AbortSignal): AsyncGenerator<readonly RefName[]> {
  const walk = texts(plan, 'refs', signal)
  for (let step = await walk.next(); !step.done; ) {
    const page = at(parseJson(step.value), 'resource')
    yield listAt(page, 'data').flatMap(each => refOf(each) ?? [])
    step = await walk.next(at(page, 'after') ?? undefined)
  }
}
