// Estimates how many documents of a collection have ids below a given id. Counting them would read the whole
// collection, and ids are not evenly distributed: imported ids are small, generated ids contain the time. So the range
// of ids is halved repeatedly, each part is narrowed to its first and last document, and the density of each part is
// sampled.

import type { CollectionId, DatabaseId } from '../../values/value.ts'
import { everyDocument, idMax } from './documents.ts'
import type { Snapshot } from './snapshot.ts'

/** How often a range of ids is halved. */
const depthMax = 5
/** Documents that are read at the start of a part. A part with fewer documents is counted exactly. */
const sampleSize = 16

/** A range of ids, from its first to its last document, with the estimated number of documents. */
interface IdPart {
  readonly first: bigint
  readonly last: bigint
  readonly documents: number
}

/** Estimates the number of all documents, and of those with ids below `id`. */
export function documentsBelow(
  snapshot: Snapshot,
  database: DatabaseId,
  collection: CollectionId,
  id: bigint,
): { readonly all: number; readonly below: number } {
  const documentsIn = (first: bigint, last: bigint, isReverse: boolean) =>
    everyDocument(snapshot, database, collection, { first, last }, isReverse)
  let [all, below] = [0, 0]
  for (const { documents, first, last } of partsOf(documentsIn, 0n, idMax, 0)) {
    all += documents
    if (id > last) below += documents
    else if (id > first) below += documents * (Number(id - first) / Number(last - first))
  }
  return { all, below }
}

function* partsOf(
  documentsIn: (first: bigint, last: bigint, isReverse: boolean) => Iterable<{ readonly id: bigint }>,
  from: bigint,
  to: bigint,
  depth: number,
): Generator<IdPart> {
  const sampledDocuments = Iterator.from(documentsIn(from, to, false)).take(sampleSize)
  const sample = Array.from(sampledDocuments, ({ id }) => id)
  const [first] = sample
  const sampled = sample.at(-1)
  if (first === undefined || sampled === undefined) return
  if (sample.length < sampleSize) {
    yield* sample.map(id => ({ first: id, last: id, documents: 1 }))
    return
  }
  const [end] = documentsIn(from, to, true)
  const last = end?.id ?? sampled
  if (depth === depthMax) {
    const documents = (sampleSize - 1) * (Number(last - first) / Number(sampled - first)) + 1
    yield { first, last, documents }
    return
  }
  const middle = (first + last) / 2n
  yield* partsOf(documentsIn, first, middle, depth + 1)
  yield* partsOf(documentsIn, middle + 1n, last, depth + 1)
}
