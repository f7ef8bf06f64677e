// Records the schema objects that a query has found by name, for the query log. If the query is explained, also records
// its reads of index entries, collections and documents. The file also defines the filters and sort orders that an
// explanation finds in the text of a query.

import { upsert } from '../base/upsert.ts'
import { markedNamesMax } from '../values/names.ts'
import type { CollectionId, Ref } from '../values/value.ts'
import type { Path } from './schema/paths.ts'

/** A schema object that a query has found by its name. Contains plain data only. */
export interface NamedObject {
  readonly kind: 'collection' | 'index' | 'function'
  readonly name: string
}

/** An empty list. All queries that have found no objects share this list. Never modified. */
const none: NamedObject[] = []

/** The first schema objects that a query has found, in the order in which they were found. Contains no duplicates. */
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

/** The reads of a set. The set is an index, or a collection with all its documents. */
interface SetReads {
  /** The definition of the index or collection. */
  readonly set: Ref
  /** The number of scans of the set that were started. */
  scans: number
  /** The number of entries that were read, including entries that the caller may not see. */
  entries: number
}

/** The reads of one query. */
export class ReadRecorder {
  readonly #sets = new Map<string, SetReads>()
  readonly #documents = new Map<CollectionId, Set<string>>()

  /** Records that a document was read. Repeated reads of a document count once. */
  document({ collection, database, id }: Ref): void {
    upsert(this.#documents, collection, () => new Set()).add(`${database}/${id}`)
  }

  /** Returns `items`, the entries of a set. Counts each entry when the consumer reads it. */
  *entries<T>(set: Ref, items: Iterable<T>): Generator<T> {
    const name = `${set.database}/${set.collection}/${set.id}`
    const reads = upsert(this.#sets, name, () => ({ set, scans: 0, entries: 0 }))
    reads.scans++
    for (const item of items) {
      reads.entries++
      yield item
    }
  }

  /** The sets that were read, in the order of their first reads. */
  get sets(): readonly SetReads[] {
    return [...this.#sets.values()]
  }

  /** The number of documents read from each collection. */
  get documents(): readonly (readonly [collection: CollectionId, count: number])[] {
    return [...this.#documents].map(([collection, ids]) => [collection, ids.size])
  }
}

// Filters and sort orders over all documents of a collection, found in the text of a query. Explanations suggest one
// index for each of them.

/** A filter or a sort order over all documents of a collection. */
export interface SetUse {
  /** The name of the collection. */
  readonly collection: string
  /**
   * Fields that the query compares with a value. They become the terms of the suggested index. Paths to fields of the
   * data begin with `data`.
   */
  readonly terms: readonly Path[]
  /**
   * Fields that the query sorts by, or compares with `<` and the like. They become the values of the suggested index.
   */
  readonly values: readonly Path[]
  /**
   * True if the suggested index is part of the collection's definition. False if the suggested index has its own
   * definition in the database.
   */
  readonly isOwn: boolean
  /** The definition of the suggested index, in the syntax of the query's language. */
  readonly definition: string
}

/** Returns a name for an index over the given fields, such as `byStatusAndCity` for `status` and `city`. */
export function indexNameFor(paths: readonly Path[]): string {
  const words = paths.map(path => String(path.at(-1)).replaceAll(/\W/g, ''))
  return `by${words.map(word => word.slice(0, 1).toUpperCase() + word.slice(1)).join('And')}`
}
