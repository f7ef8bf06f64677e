// How many entries an index has, or how many documents a collection, and what they take of the store, a page of rows with each
// request: for the index of version 4 with a name, for an index or a unique constraint of a collection's definition, and for
// the documents of a collection.

import { RequestError } from '../base/errors.ts'
import { limits } from '../base/limits.ts'
import { msg } from '../base/message.ts'
import { ownIndexRef } from '../model/schema/collection-indexes.ts'
import type { Session } from '../model/session.ts'
import type { StoredSize } from '../storage/store/contract.ts'
import { sizeCursorBytesMax } from '../storage/store/stored-size.ts'
import { native, type Ref } from '../values/value.ts'
import type { QueryRequest } from './contract.ts'
import type { Task } from './request-kind.ts'

const indexBodyText =
  'The body has to be {"index": NAME}, {"collection": NAME, "index": NAME} or {"collection": NAME, "unique": POSITION}, with "after" of the page before.'
const collectionBodyText = 'The body has to be {"collection": NAME}, with "after" of the page before.'

/** The longest cursor as base64. */
const cursorCharsMax = Math.ceil((sizeCursorBytesMax * 4) / 3)

interface Asked {
  readonly collection: string | undefined
  /** The name of an index, or the place of a unique constraint among those of its collection. */
  readonly part: string | number
  readonly after: Uint8Array | undefined
}

/**
 * A page of the sizes of an index: `entries` that are live, `bytes` of these and of past ones, `after` for the page that
 * follows, null behind the last one. For keys that may read the schema; others get `forbidden`.
 */
export const indexSize =
  (request: QueryRequest): Task =>
  session => {
    assertMayMeasure(session)
    const asked = readAsked(request.body)
    const index = indexOf(asked, session)
    if (index === undefined) throw new RequestError('not found', msg`There is no such index.`)
    return page('entries', session.transaction.indexSize(index, limits.sizeRows, asked.after))
  }

/**
 * A page of the sizes of a collection: `documents` that are live, `bytes` of these and of past versions, `after` as for
 * indexes. For keys that may read the schema; others get `forbidden`.
 */
export const collectionSize =
  (request: QueryRequest): Task =>
  session => {
    assertMayMeasure(session)
    const { after, collection: name } = readObject(request.body, collectionBodyText)
    if (typeof name !== 'string' || !isCursor(after))
      throw new RequestError('bad request', collectionBodyText)
    const { database, transaction } = session
    const collection = transaction.catalogue.resolve(database, native.collections, name)
    if (collection === undefined) throw new RequestError('not found', msg`There is no such collection.`)
    return page('documents', transaction.collectionSize(collection, limits.sizeRows, cursorOf(after)))
  }

function assertMayMeasure({ caller: { authority } }: Session): void {
  if (authority.kind !== 'builtin' || authority.role === 'client')
    throw new RequestError('forbidden', msg`Sizes need a key with the role admin or server.`)
}

function page(counted: 'entries' | 'documents', { count, bytes, last }: StoredSize): ReturnType<Task> {
  const after = last === undefined ? null : Buffer.from(last).toString('base64url')
  return { status: 200, body: JSON.stringify({ [counted]: count, bytes, after }) }
}

function indexOf({ collection: name, part }: Asked, session: Session): Ref | undefined {
  const { database, transaction } = session
  const { catalogue } = transaction
  if (name === undefined) return catalogue.resolve(database, native.indexes, String(part))
  const collection = catalogue.resolve(database, native.collections, name)
  return collection && ownIndexRef(collection, part, session)
}

function readAsked(body: string | undefined): Asked {
  const { after, collection, index, unique } = readObject(body, indexBodyText)
  const part = index ?? unique
  const isPart = typeof index === 'string' || (Number.isSafeInteger(unique) && typeof collection === 'string')
  const isNamed = collection === undefined || typeof collection === 'string'
  if (!isPart || !isNamed || !isCursor(after) || (index !== undefined && unique !== undefined))
    throw new RequestError('bad request', indexBodyText)
  return {
    collection: collection as string | undefined,
    part: part as string | number,
    after: cursorOf(after),
  }
}

const isCursor = (after: unknown) =>
  after === undefined || (typeof after === 'string' && after.length <= cursorCharsMax)

const cursorOf = (after: unknown) => (typeof after === 'string' ? Buffer.from(after, 'base64url') : undefined)

function readObject(body: string | undefined, bodyText: string): Readonly<Record<string, unknown>> {
  let parsed: unknown
  try {
    parsed = JSON.parse(body ?? '')
  } catch {
    throw new RequestError('bad request', bodyText)
  }
  if (parsed === null || typeof parsed !== 'object') throw new RequestError('bad request', bodyText)
  return parsed as Readonly<Record<string, unknown>>
}
