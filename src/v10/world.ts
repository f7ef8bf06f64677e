// The world of queries that reach no data: no collections, no documents, no functions of users.

import type { World } from './call.ts'

/** A world in which nothing is defined. */
export const emptyWorld: World = {
  global: () => undefined,
  absence: () => undefined,
  fields: () => new Map(),
  collectionOf: () => {
    throw new RangeError('no document has a collection here')
  },
  sets: { scan: () => [] },
  cursorKey: new Uint8Array(),
  callUser: () => null,
}
