// A lazy set describes its elements, and reads them on demand, also from a place of the set. Places and sets can be
// encoded (saved-values.ts), so that another query can read the next page.

import type { Call, ReadTimes } from '../call.ts'
import type { Source, Span } from '../syntax/source.ts'
import { SetValue, type Value } from '../value.ts'
import { isElementOrThrow, type SetItem, type SetPlace } from './items.ts'

/** Also the minimum number of items after which a full page may end at an element that a filter left out (pages.ts). */
export const pageSizeDefault = 16

export abstract class LazySet extends SetValue {
  /** The number of elements of a page. */
  get pageSize(): number {
    return pageSizeDefault
  }

  /** Starts at the place `from`, or at the first item. `reading` is the call that reads the set. */
  abstract items(reading: Call, from: SetPlace | undefined): Iterable<SetItem>

  abstract reversed(): LazySet
}

/**
 * The functions of a set run in the context of the call that created the set. Their errors show the position of that
 * call.
 */
export interface Origin extends ReadTimes {
  readonly source: Source
  readonly span: Span | undefined
  /** Absent for a set from a cursor. */
  readonly outer?: Call | undefined
}

export function originOf({ source, span, outer, at, snapshot }: Call): Origin {
  return { source, span, outer, at, snapshot }
}

/** Returns the call in which the functions of a set run. The functions may read, but not write. */
export function callAt({ source, span, outer, at, snapshot }: Origin, reading: Call): Call {
  let call = reading
  for (const each of [...spansAround(outer, reading), span]) if (each !== undefined) call = call.within(each)
  const limit = { effect: 'read', place: 'set functions' } as const
  return call.as({ source, limit: stricterLimit(call, limit) }).reading({ at, snapshot })
}

/** The spans of the calls around the creation of a set, outermost first, without calls that also enclose its read. */
function spansAround(outer: Call | undefined, reading: Call): readonly (Span | undefined)[] {
  if (outer === undefined) return []
  const open = new Set<Call>()
  for (let each: Call | undefined = reading; each !== undefined; each = each.outer) open.add(each)
  const spans: (Span | undefined)[] = []
  for (let each: Call | undefined = outer; each !== undefined && !open.has(each); each = each.outer) {
    spans.unshift(each.span)
  }
  return spans
}

/** The effect limit of code that may not write. If the limit of `call` is stricter, the result is this stricter limit. */
export function stricterLimit({ limit }: Call, own: NonNullable<Call['limit']>): NonNullable<Call['limit']> {
  return limit === undefined || limit.effect === 'write' ? own : limit
}

/** Skips items that are not elements. If a filter fails, throws its failure. */
export function* elementsOf(set: SetValue, reading: Call): Generator<Value, void, void> {
  for (const item of lazy(set).items(reading, undefined)) if (isElementOrThrow(item)) yield item.value()
}

export function lazy(set: SetValue): LazySet {
  // All sets extend LazySet.
  return set as LazySet
}
