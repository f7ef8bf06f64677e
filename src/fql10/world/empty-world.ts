// A world without data: no collections, no documents, no user functions.

import { msg } from '../../base/message.ts'
import { epoch } from '../../base/micros.ts'
import type { World } from '../call.ts'
import { QueryFailure } from '../failure/query-failure.ts'

function nowhere(): never {
  const message = msg`Documents are not available here.`
  throw new QueryFailure('disabled_feature', message, [{ name: 'error', message, span: undefined }])
}

/** A world in which nothing is defined. */
export const emptyWorld: World = {
  names: { global: () => undefined, collection: nowhere, userFunction: nowhere, definitionOf: nowhere },
  documents: {
    absence: () => undefined,
    fields: () => new Map(),
    storedText: () => undefined,
    field: () => undefined,
    hintUncovered: () => undefined,
    byId: nowhere,
    byName: nowhere,
    collectionOf: nowhere,
  },
  writer: { create: nowhere, change: nowhere, remove: nowhere },
  access: {
    credentialOf: nowhere,
    tokensOf: nowhere,
    verify: nowhere,
    login: nowhere,
    identity: () => undefined,
    token: () => undefined,
    isProtected: () => false,
  },
  sets: { requireIndex: nowhere, scan: () => [], mayReadSome: nowhere, pathsOf: nowhere },
  sealing: {
    database: 0n,
    resultTime: () => epoch,
    cursorKey: new Uint8Array(),
    sourceKey: new Uint8Array(),
  },
  callUser: () => null,
}
