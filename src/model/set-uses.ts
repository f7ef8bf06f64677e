// Filters and orders over all documents of a collection, found in the text of a query. Explanations suggest an index
// for each.

import type { Path } from './schema/paths.ts'

/** A filter or an order over all documents of a collection. */
export interface SetUse {
  /** The name of the collection. */
  readonly collection: string
  /** Fields that are compared with a value: terms of an index. Paths to fields of the data begin with `data`. */
  readonly terms: readonly Path[]
  /** Fields that are sorted by, or compared by size: values of an index. */
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
