// Records the schema objects that a query has found by name, for the query log. If the query is explained, also records
// its reads of index entries, collections and documents. An explanation also describes the filters and orders in the
// text of the query.

import { upsert } from '../base/upsert.ts'
import { markedNamesMax } from '../values/names.ts'
import type { CollectionId, Ref } from '../values/value.ts'
import type { Path } from './schema/paths.ts'

/** A schema object that a query has found by its name. A plain value. */
export interface NamedObject {
  readonly kind: 'collection' | 'index' | 'function'
  readonly name: string
}

/** The list that all queries without found objects share. Never modified. */
const none: NamedObject[] = []

/** The first schema objects that a query has found, without duplicates, in the order in which they were found. */
export class NamedObjects {
  #list = none

  get list(): readonly NamedObject[] {
    return this.#list
  }

  /** Records an object. */
  note(kind: NamedObject['kind'], name: string): void {
    const list = this.#list
    if (list.length >= markedNamesMax) return
    for (const each of list) if (each.name === name && each.kind === kind) return
    if (list.length === 0) this.#list = [{ kind, name }]
    else list.push({ kind, name })
  }
}

/** Reads of an index or of a collection as a set. */
interface SetReads {
  /** The definition of the index or collection. */
  readonly set: Ref
  /** The number of started scans of the set. */
  scans: number
  /** Entries that were read, including entries that the caller may not see. */
  entries: number
}

/** The reads of one query. */
export class ReadRecorder {
  readonly #sets = new Map<string, SetReads>()
  readonly #documents = new Map<CollectionId, Set<string>>()

  /** Records that a document was read. Several reads of a document count once. */
  document({ collection, database, id }: Ref): void {
    upsert(this.#documents, collection, () => new Set()).add(`${database}/${id}`)
  }

  /** Counts the entries of a set as they are read. */
  *entries<T>(set: Ref, items: Iterable<T>): Generator<T> {
    const name = `${set.database}/${set.collection}/${set.id}`
    const reads = upsert(this.#sets, name, () => ({ set, scans: 0, entries: 0 }))
    reads.scans++
    for (const item of items) {
      reads.entries++
      yield item
    }
  }

  /** The sets in the order of their first reads. */
  get sets(): readonly SetReads[] {
    return [...this.#sets.values()]
  }

  /** The number of documents read from each collection. */
  get documents(): readonly (readonly [collection: CollectionId, count: number])[] {
    return [...this.#documents].map(([collection, ids]) => [collection, ids.size])
  }
}

// Filters and orders over all documents of a collection, found in the text of a query. Explanations suggest an index
// for each.

/** A filter or an order over all documents of a collection. */
export interface SetUse {
  /** The name of the collection. */
  readonly collection: string
  /**
   * Fields that the query compares with a value. They become the terms of the suggested index. Paths to fields of the
   * data begin with `data`.
   */
  readonly terms: readonly Path[]
  /** Fields that the query sorts by, or compares by size. They become the values of the suggested index. */
  readonly values: readonly Path[]
  /**
   * True if the suggested index belongs to the collection's own definition, false if it is an index of the database.
   */
  readonly isOwn: boolean
  /** The definition of the suggested index, in the syntax of the language. */
  readonly definition: string
}

/** Returns a name for an index over some fields, such as `byStatusAndCity` for `status` and `city`. */
export function indexNameFor(paths: readonly Path[]): string {
  const words = paths.map(path => String(path.at(-1)).replaceAll(/\W/g, ''))
  return `by${words.map(word => word.slice(0, 1).toUpperCase() + word.slice(1)).join('And')}`
}
