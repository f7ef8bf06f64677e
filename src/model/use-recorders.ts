// Two recorders of what a query uses. For the query log: the schema objects that the query finds by name. For an
// explanation of the query's plan: the reads of index entries, collections and documents. An explanation also suggests
// indexes.

import { upsert } from '../base/upsert.ts'
import { markedNamesMax } from '../values/names.ts'
import { type CollectionId, type Ref, refKey } from '../values/value.ts'
import type { Path } from './schema/paths.ts'

/** A schema object that a query has found by name. Contains only plain data. */
export interface NamedObject {
  readonly kind: 'collection' | 'index' | 'function'
  readonly name: string
}

/** The shared empty list. Never modified. */
const none: NamedObject[] = []

/** The first {@link markedNamesMax} schema objects, in order and without duplicates. */
export class NamedObjects {
  #list = none

  get list(): readonly NamedObject[] {
    return this.#list
  }

  note(kind: NamedObject['kind'], name: string): void {
    const list = this.#list
    if (list.length >= markedNamesMax) return
    for (const each of list) if (each.name === name && each.kind === kind) return
    if (list.length === 0) this.#list = [{ kind, name }]
    else list.push({ kind, name })
  }
}

/** The reads of an index, or of the set of all documents of a collection. */
interface SetReads {
  /** The definition of the index or collection. */
  readonly set: Ref
  scans: number
  /** The number of read entries, including entries that the caller may not read. */
  entries: number
}

export class ReadRecorder {
  readonly #sets = new Map<string, SetReads>()
  readonly #documents = new Map<CollectionId, Set<string>>()

  /** Repeated reads are counted once. */
  document({ collection, database, id }: Ref): void {
    upsert(this.#documents, collection, () => new Set()).add(`${database}/${id}`)
  }

  /** Counts each entry of a set. */
  *entries<T>(set: Ref, items: Iterable<T>): Generator<T> {
    const reads = upsert(this.#sets, refKey(set), () => ({ set, scans: 0, entries: 0 }))
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

  get documents(): readonly (readonly [collection: CollectionId, count: number])[] {
    return [...this.#documents].map(([collection, ids]) => [collection, ids.size])
  }
}

/** An index that would serve a filter or a sort order over all documents of a collection. */
export interface IndexSuggestion {
  readonly collection: string
  /**
   * Fields that are compared for equality: the terms of the suggested index. Paths to fields of the data begin with
   * `data`.
   */
  readonly terms: readonly Path[]
  /** The fields that the query sorts by, or compares with operators such as `<`: the values of the suggested index. */
  readonly values: readonly Path[]
  /** The suggested index is a part of the collection's definition, not a separate schema object. */
  readonly isOwn: boolean
  /** The definition of the suggested index, in the syntax of the query's language. */
  readonly definition: string
}

/** Returns a name for an index over the given fields, such as `byStatusAndCity` for `status` and `city`. */
export function indexNameFor(paths: readonly Path[]): string {
  const words = paths.map(path => String(path.at(-1)).replaceAll(/\W/g, ''))
  return `by${words.map(word => word.slice(0, 1).toUpperCase() + word.slice(1)).join('And')}`
}
