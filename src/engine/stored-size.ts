// Measures one page of an index or a collection: the number of entries or documents, and their bytes in the store. An
// index is a named index of version 4, or an index or a unique constraint in the definition of a collection. Estimates
// how much of a collection precedes a document, for the progress of programs that read the whole collection.

import { msg } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import { ownIndexRef } from '../model/schema/collection-indexes.ts'
import type { Session } from '../model/session.ts'
import type { StoredSize } from '../storage/store/store-contract.ts'
import { sizeCursorBytesMax } from '../storage/store/stored-size.ts'
import { parseId } from '../values/names.ts'
import { native, type Ref } from '../values/value.ts'
import type { QueryRequest } from './engine-contract.ts'
import type { Task } from './request-kind.ts'

const storedSizeLimits = {
  /** Maximum number of rows that one request reads to measure an index or a collection; own limit. */
  sizeRows: 10_000,
} as const

const indexBodyText =
  'The body has to be {"index": NAME}, {"collection": NAME, "index": NAME} or {"collection": NAME, "unique": POSITION}. For the next page, add the "after" of the previous response.'
const collectionBodyText =
  'The body has to be {"collection": NAME}. For the next page, add the "after" of the previous response.'

const positionBodyText = 'The body has to be {"collection": NAME, "id": ID}, with the id as a text.'

/** Maximum length of a cursor in base64. */
const cursorCharsMax = Math.ceil((sizeCursorBytesMax * 4) / 3)

/** Measures what the body of a request names, in the transaction of its session. */
export type SizeTask = (request: QueryRequest, session: Session) => ReturnType<Task>

interface SizeRequest {
  /** Collection that defines the index; undefined for a named index of version 4. */
  readonly collection: string | undefined
  /** Name of an index, or position of a unique constraint among those of its collection. */
  readonly part: string | number
  readonly after: Uint8Array | undefined
}

/**
 * `entries` counts the live entries, `bytes` the live and the past entries. `after` is the cursor of the next page, or
 * null. Callers without a built-in role, and callers with the role `client`, get `forbidden`.
 */
export const indexSize: SizeTask = (request, session) => {
  assertMayMeasure(session)
  const requested = parseSizeRequest(request.body)
  const index = indexOf(requested, session)
  if (index === undefined) throw new RequestError('not found', msg`There is no such index.`)
  return page('entries', session.transaction.indexSize(index, storedSizeLimits.sizeRows, requested.after))
}

/**
 * `documents` counts the live documents, `bytes` the live and the past versions. `after` is the cursor of the next
 * page, or null. Callers without a built-in role, and callers with the role `client`, get `forbidden`.
 */
export const collectionSize: SizeTask = (request, session) => {
  assertMayMeasure(session)
  const { after, collection: name } = readObject(request.body, collectionBodyText)
  if (typeof name !== 'string' || !isCursor(after)) throw new RequestError('bad request', collectionBodyText)
  const collection = collectionNamed(name, session)
  return page(
    'documents',
    session.transaction.collectionSize(collection, storedSizeLimits.sizeRows, cursorOf(after)),
  )
}

/**
 * `share` is the estimated share of the documents whose ids are below `id`, from 0 to 1. A document with this id need not
 * exist. Callers who may not measure sizes get `forbidden`.
 */
export const collectionPosition: SizeTask = (request, session) => {
  assertMayMeasure(session)
  const { collection: name, id } = readObject(request.body, positionBodyText)
  const parsed = typeof id === 'string' ? parseId(id) : undefined
  if (typeof name !== 'string' || typeof parsed !== 'bigint')
    throw new RequestError('bad request', positionBodyText)
  const share = session.transaction.shareBelow(collectionNamed(name, session), parsed)
  return { status: 200, body: JSON.stringify({ share }) }
}

function collectionNamed(name: string, { database, transaction }: Session): Ref {
  const collection = transaction.catalogue.resolve(database, native.collections, name)
  if (collection === undefined) throw new RequestError('not found', msg`There is no such collection.`)
  return collection
}

function assertMayMeasure({ caller: { authority } }: Session): void {
  if (authority.kind !== 'builtin' || authority.role === 'client')
    throw new RequestError('forbidden', msg`Sizes need a key with the role admin or server.`)
}

function page(counted: 'entries' | 'documents', { count, bytes, last }: StoredSize): ReturnType<Task> {
  const after = last === undefined ? null : Buffer.from(last).toString('base64url')
  return { status: 200, body: JSON.stringify({ [counted]: count, bytes, after }) }
}

function indexOf({ collection: name, part }: SizeRequest, session: Session): Ref | undefined {
  const { database, transaction } = session
  const { catalogue } = transaction
  if (name === undefined) return catalogue.resolve(database, native.indexes, String(part))
  const collection = catalogue.resolve(database, native.collections, name)
  return collection && ownIndexRef(collection, part, session)
}

function parseSizeRequest(body: string | undefined): SizeRequest {
  const { after, collection, index, unique } = readObject(body, indexBodyText)
  const part = index ?? unique
  const isPart = typeof index === 'string' || (Number.isSafeInteger(unique) && typeof collection === 'string')
  const isNamed = collection === undefined || typeof collection === 'string'
  if (!isPart || !isNamed || !isCursor(after) || (index !== undefined && unique !== undefined))
    throw new RequestError('bad request', indexBodyText)
  return { collection, part: part as string | number, after: cursorOf(after) }
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
