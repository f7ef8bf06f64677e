// Reads pages of sets, and encodes the cursors of next pages as text. A cursor contains the set, the position of the
// next element, the snapshot time of the first page, and the page size.

import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { nearestMicros } from '../../base/micros.ts'
import type { Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { QueryFailure } from '../failure/query-failure.ts'
import { SetCursor, SetValue, type Struct, type Value } from '../value.ts'
import { isElement, type SetPosition } from './items.ts'
import { type LazySet, lazy, pageSizeDefault } from './lazy-set.ts'
import { RevivalError, Reviver } from './reviver.ts'
import { saved, seal, unseal } from './saved-values.ts'

/**
 * The first page of a set: an object with `data` and, if the set may have more elements, the cursor `after`. If `size`
 * is undefined, the page has the page size of the set. Throws `invalid_bounds`.
 */
export function firstPage(set: SetValue, size: number | undefined, call: Call): Struct {
  return pageOf(startOf(set, call, size === undefined ? undefined : checkSize(size, call)), call)
}

/**
 * The page that a cursor refers to. If `size` is undefined, the page has the size that the cursor contains. Throws
 * `invalid_bounds` or `invalid_cursor`.
 */
export function nextPage(cursor: string, size: number | undefined, call: Call): Struct {
  if (size !== undefined) checkSize(size, call)
  const opened = openCursor(cursor, call)
  if (opened === undefined) throw call.failure('invalid_cursor', msg`Cursor cursor is invalid or expired.`)
  return pageOf(size === undefined ? opened : { ...opened, size }, call)
}

/** The cursor for the start of a set. */
export function cursorOf(set: SetValue, call: Call): SetCursor {
  return new SetCursor(sealCursor(startOf(set, call), call))
}

function startOf(set: SetValue, call: Call, size = lazy(set).pageSize): PageStart {
  return { set: lazy(set), from: undefined, time: call.evaluation.now, size }
}

/**
 * Reads a page. Filters test the elements in batches of `batch` elements. When the page is full, this function looks
 * for one more element that passes the filters, but only up to the end of the batch. If the batch ends first, the page
 * has a cursor, even if no later element passes the filters.
 */
function pageOf({ set, from, time, size }: PageStart, call: Call): Struct {
  const data: Value[] = []
  const batch = Math.max(size, pageSizeDefault)
  let read = 0
  for (const item of set.items(call, from)) {
    if (data.length === size && (item.kind !== 'left out' || read % batch === 0)) {
      const after = new SetCursor(sealCursor({ set, from: item.position(), time, size }, call))
      return new Map<string, Value>([
        ['data', data],
        ['after', after],
      ])
    }
    if (item.kind !== 'boundary') read++
    if (isElement(item)) data.push(item.value())
  }
  return new Map([['data', data]])
}

/** Checks the size of a page. Throws `invalid_bounds`. */
export function checkSize(size: number, call: Call): number {
  const max = limits.v10ElementsMax
  if (size >= 1 && size <= max) return size
  const message = msg`expected \`size\` to be between 1 and ${max} (inclusive), received ${size}`
  throw call.failure('invalid_bounds', message)
}

interface PageStart {
  readonly set: LazySet
  readonly from: SetPosition | undefined
  /** The snapshot time of the query that returned the first page. */
  readonly time: number
  readonly size: number
}

/** Encodes a cursor as text. */
function sealCursor({ set, from, time, size }: PageStart, call: Call): string {
  const position = from === undefined ? [] : [from]
  const value = [saved(set), BigInt(time), BigInt(size), ...position]
  // A position may contain the commit time of this query's writes, which is not known yet. The snapshot time replaces
  // the commit time.
  return seal('set cursor', value, call.evaluation.world.sealing.cursorKey, nearestMicros(time))
}

/** Decodes a cursor. Undefined if the text is not a cursor, or if the cursor is no longer valid. */
function openCursor(text: string, call: Call): PageStart | undefined {
  const opened = unseal(text, call.evaluation.world.sealing.cursorKey)
  if (opened?.kind !== 'set cursor') return undefined
  const [set, time, size, from] = opened.value as readonly StoredValue[]
  try {
    const revived = new Reviver(call, Number(time)).value(set as StoredValue)
    if (!(revived instanceof SetValue)) return undefined
    return { set: lazy(revived), from, time: Number(time), size: Number(size) }
  } catch (error) {
    const isRefused = error instanceof QueryFailure && error.code === 'permission_denied'
    if (error instanceof RevivalError || (error instanceof QueryFailure && !isRefused)) return undefined
    throw error
  }
}
