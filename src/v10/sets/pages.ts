// Pages of sets, and going on with them.

import { limits } from '../../limits.ts'
import type { Call } from '../call.ts'
import { SetCursor, type SetValue, type Value } from '../value.ts'
import { openCursor, type PageStart, sealCursor } from './cursor.ts'
import { lazy } from './set.ts'

/** Some elements of a set, and where it goes on, if it does. */
export interface Page {
  readonly data: readonly Value[]
  readonly after: SetCursor | undefined
}

/** The first page of a set. */
export function firstPage(set: SetValue, size: number, call: Call): Page {
  return pageOf({ set: lazy(set), from: undefined, time: call.evaluation.now, size }, call)
}

/** The page that a cursor stands for; a size of its own comes before that of the page that gave it. */
export function nextPage(cursor: string, size: number | undefined, call: Call): Page {
  const opened = openCursor(cursor, call)
  if (opened === undefined) throw call.failure('invalid_cursor', 'Cursor cursor is invalid or expired.')
  return pageOf(size === undefined ? opened : { ...opened, size }, call)
}

/** The cursor of a set from its beginning. */
export function cursorOf(set: SetValue, call: Call): SetCursor {
  const start = { set: lazy(set), from: undefined, time: call.evaluation.now, size: lazy(set).pageSize }
  return new SetCursor(sealCursor(start, call))
}

function pageOf({ set, from, time, size }: PageStart, call: Call): Page {
  const data: Value[] = []
  for (const item of set.items(call, from)) {
    if (data.length === size) {
      return { data, after: new SetCursor(sealCursor({ set, from: item.place(), time, size }, call)) }
    }
    if (item.kind === 'element') data.push(item.value())
  }
  return { data, after: undefined }
}

/** The size of a page. Throws `invalid_bounds`. */
export function checkedSize(size: number, call: Call): number {
  const max = limits.v10ElementsMax
  if (size >= 1 && size <= max) return size
  const message = `expected \`size\` to be between 1 and ${max} (inclusive), received ${size}`
  throw call.failure('invalid_bounds', message)
}
