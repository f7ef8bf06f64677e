// The sets that storage holds: what an index has under some terms, the documents of a collection, one document.

import type { IndexDefinition, IndexEntry } from '../../store/contract.ts'
import type { Ref, Value } from '../../values/value.ts'
import type { ElementFilter } from './access.ts'
import {
  compareToPlace,
  documentOrder,
  type Element,
  indexOrder,
  placeWithin,
  type SetOrder,
} from './order.ts'
import type { Reading } from './reading.ts'
import type { ElementScan, ElementStream } from './stream.ts'

/** The entries of an index under some terms that show to the caller. */
export class MatchStream implements ElementStream {
  readonly order: SetOrder
  readonly #index: IndexDefinition
  readonly #terms: readonly Value[]
  readonly #shows: ElementFilter
  readonly #reading: Reading
  readonly #part: string
  readonly #sources: readonly Value[]

  /** `source`: see {@link Element.sources}. */
  constructor(
    index: IndexDefinition,
    terms: readonly Value[],
    source: Value,
    shows: ElementFilter,
    reading: Reading,
  ) {
    this.order = indexOrder(index.values.map(value => value.reverse))
    this.#index = index
    this.#terms = terms
    this.#shows = shows
    this.#reading = reading
    this.#part = reading.part(matchKey(index, terms, reading))
    this.#sources = [source]
  }

  scan(scan: ElementScan): Iterable<Element> {
    const { transaction } = this.#reading.session
    const entries = transaction.match(this.#index, this.#terms, storedScan(scan, this.order, this.#reading))
    return this.#reading.measured(this.#part, partitionsOf(this.#index), entries, entry => this.#view(entry))
  }

  #view({ document, values }: IndexEntry): Element | undefined {
    return this.#shows(document) ? { values, document, sources: this.#sources } : undefined
  }
}

/** The key under which the reads of an index's set are counted. */
export function matchKey({ ref }: IndexDefinition, terms: readonly Value[], { session }: Reading): string {
  return `match ${ref.database}/${ref.id} ${session.keys.keyOf(terms)}`
}

/** What is read as it is. */
const itself = <T>(item: T): T => item

/** How many parts of storage a read of an index touches; unique indexes are never partitioned. */
export function partitionsOf(index: IndexDefinition): number {
  if (index.isOwn) return index.terms.length === 0 ? documentsPartitions : 1
  return index.unique ? 1 : index.partitions
}

/** How many parts of storage the documents of a collection lie in, as those of an index without terms by default. */
export const documentsPartitions = 8

function storedScan({ from, to, reverse }: ElementScan, order: SetOrder, { at }: Reading) {
  return {
    ...(from && { from: placeWithin(from, order) }),
    ...(to && { to: placeWithin(to, order) }),
    ...(reverse && { reverse }),
    ...(at !== undefined && { at }),
  }
}

/** The documents of a collection, native ones too, that show to the caller. */
export class DocumentsStream implements ElementStream {
  readonly order = documentOrder
  readonly #collection: Ref
  readonly #shows: ElementFilter
  readonly #reading: Reading
  readonly #part: string
  readonly #sources: readonly Value[]

  /** `source` is the set as it was written: `documents` of the collection, or a native collection's own ref. */
  constructor(collection: Ref, source: Value, shows: ElementFilter, reading: Reading) {
    this.#collection = collection
    this.#shows = shows
    this.#reading = reading
    this.#part = reading.part(`documents ${collection.database}/${collection.id}`)
    this.#sources = [source]
  }

  scan(scan: ElementScan): Iterable<Element> {
    const { database, id } = this.#collection
    const { transaction } = this.#reading.session
    const stored = transaction.documents(database, Number(id), storedScan(scan, this.order, this.#reading))
    return this.#reading.measured(this.#part, documentsPartitions, stored, entry => this.#view(entry))
  }

  #view({ document, values }: IndexEntry): Element | undefined {
    return this.#shows(document) ? { values, document, sources: this.#sources } : undefined
  }
}

/** A document as a set of one element, if it is live. */
export class SingleDocumentStream implements ElementStream {
  readonly order = documentOrder
  readonly #document: Ref
  readonly #reading: Reading
  readonly #sources: readonly Value[]

  /** `source` is the set as it was written: `singleton` of the document, or its own ref. */
  constructor(document: Ref, source: Value, reading: Reading) {
    this.#document = document
    this.#reading = reading
    this.#sources = [source]
  }

  *scan({ from, to }: ElementScan): Generator<Element> {
    const element: Element = { values: [], document: this.#document, sources: this.#sources }
    if (from && compareToPlace(element, from, this.order) < 0) return
    if (to && compareToPlace(element, to, this.order) > 0) return
    const { database, collection, id } = this.#document
    yield* this.#reading.measured(`document ${database}/${collection}/${id}`, 1, this.#live(element), itself)
  }

  *#live(element: Element): Generator<Element> {
    if (this.#reading.session.transaction.get(this.#document, this.#reading.at)) yield element
  }
}
