// How many entries an index has, and what it takes of the store, a page of its rows with each request: for the index of
// version 4 with a name, or for an index or a unique constraint of a collection's definition.

import { RequestError } from '../errors.ts'
import { limits } from '../limits.ts'
import { keptIndex } from '../model/schema/collection-indexes.ts'
import type { Session } from '../model/session.ts'
import { indexCursorBytesMax } from '../store/index-size.ts'
import { native, type Ref } from '../values/value.ts'
import type { QueryRequest } from './contract.ts'
import type { Task } from './request-kind.ts'

const bodyText =
  'The body has to be {"index": NAME}, {"collection": NAME, "index": NAME} or {"collection": NAME, "unique": POSITION}, with "after" of the page before.'

/** The longest cursor as base64. */
const cursorCharsMax = Math.ceil((indexCursorBytesMax * 4) / 3)

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
    const { authority } = session.caller
    if (authority.kind !== 'builtin' || authority.role === 'client')
      throw new RequestError('forbidden', 'The sizes of indexes need a key with the role admin or server.')
    const asked = readAsked(request.body)
    const index = indexOf(asked, session)
    if (index === undefined) throw new RequestError('not found', 'There is no such index.')
    const { entries, bytes, last } = session.transaction.indexSize(index, limits.indexSizeRows, asked.after)
    const after = last === undefined ? null : Buffer.from(last).toString('base64url')
    return { status: 200, body: JSON.stringify({ entries, bytes, after }) }
  }

function indexOf({ collection: name, part }: Asked, session: Session): Ref | undefined {
  const { database, transaction } = session
  const { catalogue } = transaction
  if (name === undefined) return catalogue.resolve(database, native.indexes, String(part))
  const collection = catalogue.resolve(database, native.collections, name)
  return collection && keptIndex(collection, part, session)
}

function readAsked(body: string | undefined): Asked {
  const { after, collection, index, unique } = readObject(body)
  const part = index ?? unique
  const isPart = typeof index === 'string' || (Number.isSafeInteger(unique) && typeof collection === 'string')
  const isNamed = collection === undefined || typeof collection === 'string'
  const isCursor = after === undefined || (typeof after === 'string' && after.length <= cursorCharsMax)
  if (!isPart || !isNamed || !isCursor || (index !== undefined && unique !== undefined))
    throw new RequestError('bad request', bodyText)
  return {
    collection: collection as string | undefined,
    part: part as string | number,
    after: typeof after === 'string' ? Buffer.from(after, 'base64url') : undefined,
  }
}

function readObject(body: string | undefined): Readonly<Record<string, unknown>> {
  let parsed: unknown
  try {
    parsed = JSON.parse(body ?? '')
  } catch {
    throw new RequestError('bad request', bodyText)
  }
  if (parsed === null || typeof parsed !== 'object') throw new RequestError('bad request', bodyText)
  return parsed as Readonly<Record<string, unknown>>
}
