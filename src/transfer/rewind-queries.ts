// The queries of a rewind, in the wire format of version 4.

import type { Json, Micros } from '../values/value.ts'

/** The time of the transaction. */
export const nowQuery: Json = new Map([['time', 'now']])

/** A page of documents in one transaction. */
interface RewindPage {
  /** The name of the collection. */
  readonly collection: string
  /** The time whose state is restored. */
  readonly to: Micros
  /** The time at which the rewind began. Documents that other clients create later are not deleted. */
  readonly from: Micros
  /** Number of documents. */
  readonly size: number
  /** The cursor of the previous page. */
  readonly after: Json | undefined
  /** False: the differences are only counted. */
  readonly writes: boolean
}

/**
 * Deletes the documents of a page that did not exist at the time. Its `data` contains `deleted` or `kept` for each
 * document.
 */
export function deleteQuery({ collection, from, to, writes, ...page }: RewindPage): Json {
  const ref = variable('ref')
  const existedThen = at(to, form({ exists: ref }))
  const deleted = writes ? form({ do: [form({ delete: ref }), 'deleted'] }) : 'deleted'
  const outcome = choose(existedThen, 'kept', choose(form({ exists: ref }), deleted, 'kept'))
  const documents = at(from, pageOf(collection, page))
  return bind({ page: documents }, outcomes(form({ lambda: 'ref', expr: outcome })))
}

/**
 * Checks whether the collection existed at the time. The result is null for an unknown collection. Fails for a time
 * before the history of the collection.
 */
export function reachQuery({ collection, to }: Pick<RewindPage, 'collection' | 'to'>): Json {
  const own = form({ collection })
  const first = pageOf(collection, { size: 1, after: undefined })
  const existed = form({ do: [at(to, first), at(to, form({ exists: own }))] })
  return choose(form({ exists: own }), existed, null)
}

function pageOf(collection: string, { after, size }: Pick<RewindPage, 'after' | 'size'>): Json {
  const documents = form({ documents: form({ collection }) })
  return form({ paginate: documents, size: BigInt(size), ...(after !== undefined && { after }) })
}

/** The cursor after the bound page, and the results of `lambda` for its elements. */
function outcomes(lambda: Json): Json {
  return object({
    after: select(['after'], variable('page')),
    data: form({ map: lambda, collection: select(['data'], variable('page')) }),
  })
}

function at(time: Micros, expr: Json): Json {
  return form({ at: form({ epoch: BigInt(time), unit: 'microseconds' }), expr })
}

function choose(condition: Json, then: Json, otherwise: Json): Json {
  return form({ if: condition, then, else: otherwise })
}

function bind(bindings: Readonly<Record<string, Json>>, expr: Json): Json {
  return form({ let: Object.entries(bindings).map(([name, value]) => form({ [name]: value })), in: expr })
}

function select(path: readonly string[], from: Json): Json {
  return form({ select: path, from, default: null })
}

function variable(name: string): Json {
  return form({ var: name })
}

function object(fields: Readonly<Record<string, Json>>): Json {
  return form({ object: form(fields) })
}

function form(members: Readonly<Record<string, Json>>): Json {
  return new Map(Object.entries(members))
}
