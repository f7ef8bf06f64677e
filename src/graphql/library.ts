// Loads the npm package `graphql`, which parses and validates documents. The package is loaded when the first request
// needs it, so that a start of the service does not pay for it.

import type { Memo } from '../base/pending.ts'

export type Library = typeof import('graphql')

let library: Library | undefined

/** Throws Pending if the package is not loaded yet. */
export function libraryOf(memo: Memo): Library {
  library ??= memo.get('graphql package', () => import('graphql'))
  return library
}
