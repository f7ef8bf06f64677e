// Reads pages of sets.

import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import type { Call } from '../call.ts'
import { SetCursor, type SetValue, type Struct, type Value } from '../value.ts'
import { openCursor, type PageStart, sealCursor } from './cursor.ts'
import { isElement } from './items.ts'
import { lazy, pageSizeDefault } from './lazy-set.ts'

/** A page of a set, with a cursor if the set may have more elements. */
interface Page {
  readonly data: readonly Value[]
  readonly after: SetCursor | undefined
}

/** A page as an object for queries. */
export function pageStruct({ data, after }: Page): Struct {
  const page = new Map<string, Value>([['data', data]])
  return after === undefined ? page : page.set('after', after)
}

/** The first page of a set. Without a size, the set's own page size applies. Throws `invalid_bounds`. */
export function firstPage(set: SetValue, size: number | undefined, call: Call): Page {
  return pageOf(startOf(set, call, size === undefined ? undefined : checkedSize(size, call)), call)
}

/** The page of a cursor. Without a size, the size of the previous page applies. Throws `invalid_bounds`. */
export function nextPage(cursor: string, size: number | undefined, call: Call): Page {
  if (size !== undefined) checkedSize(size, call)
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
 * Reads a page. Filters are applied in batches: a full page ends with its batch, even if another element would match.
 */
function pageOf({ set, from, time, size }: PageStart, call: Call): Page {
  const data: Value[] = []
  const batch = Math.max(size, pageSizeDefault)
  let read = 0
  for (const item of set.items(call, from)) {
    if (data.length === size && (item.kind !== 'left out' || read % batch === 0)) {
      return { data, after: new SetCursor(sealCursor({ set, from: item.place(), time, size }, call)) }
    }
    if (item.kind !== 'boundary') read++
    if (isElement(item)) data.push(item.value())
  }
  return { data, after: undefined }
}

/** Checks the size of a page. Throws `invalid_bounds`. */
export function checkedSize(size: number, call: Call): number {
  const max = limits.v10ElementsMax
  if (size >= 1 && size <= max) return size
  const message = msg`expected \`size\` to be between 1 and ${max} (inclusive), received ${size}`
  throw call.failure('invalid_bounds', message)
}
