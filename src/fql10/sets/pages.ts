// Reads pages of sets, and encodes the cursors of next pages as text. A cursor contains the set, the place of the
// next element, the snapshot time of the first page, and the page size. Cursors are sealed: an authentication code
// (saved-values.ts) shows that the service created the cursor and that the client has not changed it.

import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { nearestMicros } from '../../base/micros.ts'
import type { Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { SetCursor, SetValue, type Struct, type Value } from '../value.ts'
import { isElementOrThrow, type SetPlace } from './items.ts'
import { type LazySet, lazy, pageSizeDefault } from './lazy-set.ts'
import { RevivalError, Reviver } from './reviver.ts'
import { saved, seal, unseal } from './saved-values.ts'
import { invalidCursor } from './stored-set.ts'

/**
 * Returns `data` and, if the set may have more elements, the cursor `after`. If `size` is undefined, the page has the
 * page size of the set. Throws `invalid_bounds`.
 */
export function firstPage(set: SetValue, size: number | undefined, call: Call): Struct {
  return pageOf(startOf(set, call, size === undefined ? undefined : checkSize(size, call)), call)
}

/** Without `size`, the page has the size in the cursor. Throws `invalid_bounds` or `invalid_cursor`. */
export function nextPage(cursor: string, size: number | undefined, call: Call): Struct {
  if (size !== undefined) checkSize(size, call)
  const opened = openCursor(cursor, call)
  if (opened === undefined) throw invalidCursor(call)
  return pageOf(size === undefined ? opened : { ...opened, size }, call)
}

/** The cursor for the start of a set. */
export function cursorOf(set: SetValue, call: Call): SetCursor {
  return new SetCursor(sealCursor(startOf(set, call), call))
}

function startOf(set: SetValue, call: Call, size = lazy(set).pageSize): PageStart {
  return { set: lazy(set), encoded: undefined, from: undefined, time: timeOfState(call), size }
}

/** The time of the state that the query reads: the time of its own writes, or of its snapshot. */
function timeOfState({ evaluation: { now, world } }: Call): number {
  return world.sealing.writeTime() ?? now
}

/**
 * When the page is full, this function reads items until one can begin the next page, and the cursor starts at this
 * item: an element, a boundary or a failed filter. An element that a filter left out can begin the next page only if the
 * number of items before it, without boundaries, is a multiple of `batch`. The page then has a cursor even if no later
 * element passes the filters.
 */
function pageOf({ from, ...start }: PageStart, call: Call): Struct {
  const { set, size } = start
  const data: Value[] = []
  const batch = Math.max(size, pageSizeDefault)
  let read = 0
  for (const item of set.items(call, from)) {
    if (data.length === size && (item.kind !== 'left out' || read % batch === 0)) {
      const after = new SetCursor(sealCursor({ ...start, from: item.place() }, call))
      return new Map<string, Value>([['data', data]]).set('after', after)
    }
    // A boundary (items.ts) is only a place between elements.
    if (item.kind !== 'boundary') read++
    if (isElementOrThrow(item)) data.push(item.value())
  }
  return new Map([['data', data]])
}

/** Throws `invalid_bounds`. */
export function checkSize(size: number, call: Call): number {
  const max = limits.v10ElementsMax
  if (size >= 1 && size <= max) return size
  const message = msg`expected \`size\` to be between 1 and ${max} (inclusive), received ${size}`
  throw call.failure('invalid_bounds', message)
}

interface PageStart {
  readonly set: LazySet
  /** The encoded set of the cursor, which the next cursor reuses. Undefined if the set is not from a cursor. */
  readonly encoded: StoredValue | undefined
  readonly from: SetPlace | undefined
  /** The time of the state that the first page has read. */
  readonly time: number
  readonly size: number
}

function sealCursor({ encoded, set, from, time, size }: PageStart, call: Call): string {
  const place = from === undefined ? [] : [from]
  const value = [encoded ?? saved(set), BigInt(time), BigInt(size), ...place]
  // A place may contain the commit time of this query's writes. `time` is then this commit time.
  return seal('set cursor', value, call.evaluation.world.sealing.cursorKey, nearestMicros(time))
}

/**
 * Returns undefined if the text is not a cursor, or if the cursor is no longer valid. If a set of the cursor comes from
 * the call of an index function, throws the failures of this call.
 */
function openCursor(text: string, call: Call): PageStart | undefined {
  const opened = unseal(text, call.evaluation.world.sealing.cursorKey)
  if (opened?.kind !== 'set cursor') return undefined
  const [encoded = null, time, size, from] = opened.value as readonly StoredValue[]
  // A cursor with an earlier time than this query reads the state at the time of the cursor. Any other cursor reads the
  // state of this query, including its own writes.
  const isPast = Number(time) < call.evaluation.now
  try {
    const set = new Reviver(call, isPast ? Number(time) : undefined).value(encoded)
    if (!(set instanceof SetValue)) return undefined
    const start = { set: lazy(set), encoded, from, size: Number(size) }
    return { ...start, time: isPast ? Number(time) : timeOfState(call) }
  } catch (error) {
    if (error instanceof RevivalError) return undefined
    throw error
  }
}
