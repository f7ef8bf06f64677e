// Pages as values of version 4.

import { type ObjectValue, Transient, type Value } from '../../values/value.ts'
import type { EventValue } from './event.ts'

/** A cursor of a page: a position in a set's order, or in its history. */
export type Cursor =
  | { readonly type: 'values'; readonly values: readonly Value[] }
  | { readonly type: 'event'; readonly event: EventValue }

/** A cursor as a value: an array of values, or the event at its position. */
export function cursorValue(cursor: Cursor): Value {
  return cursor.type === 'values' ? cursor.values : cursor.event
}

const noPositions = (): readonly Cursor[] => []

/** A part of a set, with cursors to the parts before and after it. */
export class Page extends Transient {
  readonly kind = 'page'
  readonly data: readonly Value[]
  readonly before: Cursor | undefined
  readonly after: Cursor | undefined
  readonly #positions: () => readonly Cursor[]
  /** `positions` is called on demand, which is rare. */
  constructor(
    data: readonly Value[],
    before: Cursor | undefined,
    after: Cursor | undefined,
    positions: () => readonly Cursor[] = noPositions,
  ) {
    super()
    this.data = data
    this.before = before
    this.after = after
    this.#positions = positions
  }

  /** For each element of `data`, the cursor of a page that would begin with it; for `take` and `drop`. */
  get positions(): readonly Cursor[] {
    return this.#positions()
  }

  storedForm(): ObjectValue {
    const form = new Map<string, Value>()
    if (this.before) form.set('before', cursorValue(this.before))
    if (this.after) form.set('after', cursorValue(this.after))
    return form.set('data', this.data)
  }

  parts(): readonly Value[] {
    const partOf = (cursor: Cursor | undefined) => cursor !== undefined && cursorValue(cursor)
    return [this.data, partOf(this.before), partOf(this.after)]
  }
}

/** An element of a page that was requested with `sources`. */
export class ElementWithSources extends Transient {
  readonly kind = 'element'
  readonly value: Value
  readonly sources: readonly Value[]
  constructor(value: Value, sources: readonly Value[]) {
    super()
    this.value = value
    this.sources = sources
  }

  storedForm(): ObjectValue {
    return new Map<string, Value>([
      ['value', this.value],
      ['sources', this.sources],
    ])
  }

  parts(): readonly Value[] {
    return [this.value, this.sources]
  }
}
