// The sets in storage: the index entries that have given terms, the documents of a collection, and single documents.

import type { IndexDefinition } from '../../storage/store/index-definition.ts'
import type { EntryScan, IndexEntry } from '../../storage/store/store-contract.ts'
import { type Ref, refKey, type Value } from '../../values/value.ts'
import type { ElementFilter } from './access.ts'
import type { Reading } from './reading.ts'
import {
  compareToPlace,
  documentOrder,
  type Element,
  type ElementScan,
  type ElementStream,
  indexOrder,
  type SetOrder,
  storedPlace,
} from './stream.ts'

/** Reads are counted under `key`. `partitions`: storage partitions per read. */
interface StoredSet {
  /** The definition of the index or collection. */
  readonly set: Ref
  readonly order: SetOrder
  readonly key: string
  readonly partitions: number
  readonly read: (scan: EntryScan) => Iterable<IndexEntry>
}

/** The visible elements. `source` is the only element of {@link Element.sources}. */
function storedStream(
  { key, order, partitions, read, set }: StoredSet,
  source: Value,
  isVisible: ElementFilter,
  reading: Reading,
): ElementStream {
  const part = reading.part(key)
  const sources = [source]
  const view = ({ document, values }: IndexEntry): Element | undefined =>
    isVisible(document) ? { values, document, sources } : undefined
  const { reads } = reading.session
  const entries = (scan: ElementScan) => {
    const found = read(storedScan(scan, order, reading))
    return reads === undefined ? found : reads.entries(set, found)
  }
  return { order, scan: scan => reading.measured(part, partitions, entries(scan), view) }
}

/** The visible entries that have the given terms. `source` is the only element of {@link Element.sources}. */
export function matchStream(
  index: IndexDefinition,
  terms: readonly Value[],
  source: Value,
  isVisible: ElementFilter,
  reading: Reading,
): ElementStream {
  const stored = {
    set: index.ref,
    order: indexOrder(index.values.map(value => value.reverse)),
    key: matchKey(index, terms, reading),
    partitions: partitionsOf(index),
    read: (scan: EntryScan) => reading.session.transaction.match(index, terms, scan),
  }
  return storedStream(stored, source, isVisible, reading)
}

/**
 * The visible documents of a user or native collection. `source` is the set as the query names it: `documents` of the
 * collection, or the reference to a native collection.
 */
export function documentsStream(
  collection: Ref,
  source: Value,
  isVisible: ElementFilter,
  reading: Reading,
): ElementStream {
  const { database, id } = collection
  const stored = {
    set: collection,
    order: documentOrder,
    key: `documents ${database}/${id}`,
    partitions: documentsPartitions,
    read: (scan: EntryScan) => reading.session.transaction.documents(database, Number(id), scan),
  }
  return storedStream(stored, source, isVisible, reading)
}

/** Reads of index entries with the given terms are counted under this key. */
export function matchKey({ ref }: IndexDefinition, terms: readonly Value[], { session }: Reading): string {
  return `match ${ref.database}/${ref.id} ${session.keys.keyOf(terms)}`
}

/** Unique indexes are never partitioned. */
export function partitionsOf(index: IndexDefinition): number {
  if (index.isOwn) return index.terms.length === 0 ? documentsPartitions : 1
  return index.unique ? 1 : index.partitions
}

/** The number of storage partitions of a collection's documents. */
export const documentsPartitions = 8

function storedScan({ from, to, reverse }: ElementScan, order: SetOrder, { at }: Reading) {
  return {
    ...(from && { from: storedPlace(from, order) }),
    ...(to && { to: storedPlace(to, order) }),
    ...(reverse && { reverse }),
    ...(at !== undefined && { at }),
  }
}

/**
 * The stream is empty if the document does not exist. `source` is the set as the query names it: `singleton` of the
 * document, or the reference to the document.
 */
export function documentStream(document: Ref, source: Value, reading: Reading): ElementStream {
  const element: Element = { values: [], document, sources: [source] }
  return {
    order: documentOrder,
    scan({ from, to }) {
      if (from && compareToPlace(element, from, documentOrder) < 0) return []
      if (to && compareToPlace(element, to, documentOrder) > 0) return []
      return reading.measured(`document ${refKey(document)}`, 1, liveElement(element, reading), each => each)
    },
  }
}

function* liveElement(element: Element, { at, session }: Reading): Generator<Element> {
  session.reads?.document(element.document)
  if (session.transaction.get(element.document, at)) yield element
}
