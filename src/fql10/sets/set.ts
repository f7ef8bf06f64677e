// Lazy sets. A set is data: what it is made of, never what it holds; it is read element by element on demand,
// and can go on from a place that it has given. Places and sets can be saved (saved-set.ts), so a page can be continued by
// another query.

import type { Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import type { Source, Span } from '../syntax/source.ts'
import { SetValue, type Value } from '../value.ts'
import { isElement, type SetItem, type SetPosition } from './items.ts'
import { savedTime } from './saved-values.ts'

/** Makes a stored value of a value. */
export type Save = (value: Value) => StoredValue

/** Elements of a page that does not say how many it wants, and the fewest of another set that a filter looks at for a page. */
export const pageSizeDefault = 16

/** A lazy set. */
export abstract class LazySet extends SetValue {
  /** Elements of its pages. */
  get pageSize(): number {
    return pageSizeDefault
  }

  /** What it holds, from a place on; `reading` is the call that asks. */
  abstract items(reading: Call, from: SetPosition | undefined): Iterable<SetItem>

  /** The same elements the other way round. */
  abstract reversed(): LazySet
}

/** A set of elements that another set decides about: its pages are as long. */
export abstract class DerivedSet extends LazySet {
  readonly inner: LazySet
  constructor(inner: LazySet) {
    super()
    this.inner = inner
  }

  override get pageSize(): number {
    return this.inner.pageSize
  }
}

/** Where a set was made: functions that it is given run as of there, and errors in them show it. */
export interface Origin {
  readonly source: Source
  readonly span: Span | undefined
  /** The calls around it; absent for sets of a cursor. */
  readonly outer?: Call | undefined
  /** The time that reads look at; undefined is the present. */
  readonly at: number | undefined
}

/** An origin as a stored value: of places in the text nothing is kept. */
export function savedOrigin({ at }: Origin): StoredValue {
  return savedTime(at)
}

/** The place of a call as an origin. */
export function originOf({ source, span, outer, at }: Call): Origin {
  return { source, span, outer, at }
}

/** The call in which a set's functions run, which may read and not write. */
export function callAt({ source, span, outer, at }: Origin, reading: Call): Call {
  let call = reading
  for (const place of [...spansAround(outer, reading), span])
    if (place !== undefined) call = call.within(place)
  const limit = { effect: 'read', place: 'set functions' } as const
  return call.as({ source, limit: narrower(call, limit) }).asOf(at)
}

/** The calls in which a set was made and which are over when it is read, from the outside in. */
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

function narrower({ limit }: Call, ofSets: NonNullable<Call['limit']>): NonNullable<Call['limit']> {
  return limit === undefined || limit.effect === 'write' ? ofSets : limit
}

/** The elements of a set, without its boundaries. */
export function* elementsOf(set: SetValue, reading: Call): Generator<Value, void, void> {
  for (const item of lazy(set).items(reading, undefined)) if (isElement(item)) yield item.value()
}

/** A set as what every set is. */
export function lazy(set: SetValue): LazySet {
  // There are no other sets.
  return set as LazySet
}
