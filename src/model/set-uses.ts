// Filters and orders over all documents of a collection, as far as the text of a query tells them. An index could answer them,
// and explanations suggest it.

import type { Path } from './schema/paths.ts'

/** A filter or an order over all documents of a collection. */
export interface SetUse {
  /** The name of the collection. */
  readonly collection: string
  /** Fields that are compared with a value: terms of an index. Paths begin with `data` where the field is one of the data. */
  readonly terms: readonly Path[]
  /** Fields that are ordered by, or compared by size: values of an index. */
  readonly values: readonly Path[]
  /** An index of the collection's own definition would answer it; otherwise one of the database. */
  readonly isOwn: boolean
  /** The definition of an index that would answer it, as the language writes it. */
  readonly definition: string
}

/** The name of an index for some fields, such as `byStatusAndCity` of `status` and `city`. */
export function indexNameFor(paths: readonly Path[]): string {
  const words = paths.map(path => String(path.at(-1)).replaceAll(/\W/g, ''))
  return `by${words.map(word => word.slice(0, 1).toUpperCase() + word.slice(1)).join('And')}`
}
