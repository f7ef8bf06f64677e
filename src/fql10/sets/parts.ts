// Defines sets that contain their elements (arrays, sequences of integers, single values), combinations of sets, and
// sets that select or sort the elements of another set.

import { step } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import type { Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { compareTotally, equalElements } from '../comparison.ts'
import { type Ordering, sortBy } from '../library/orderings.ts'
import type { Value } from '../value.ts'
import { type SetItem, type SetPlace, withPlace } from './items.ts'
import { callAt, elementsOf, LazySet, type Origin } from './lazy-set.ts'
import { saved, savedTimes } from './saved-values.ts'

export class ArraySet extends LazySet {
  readonly elements: readonly Value[]
  constructor(elements: readonly Value[]) {
    super()
    this.elements = elements
  }

  override items(_: Call, from: SetPlace | undefined): Iterable<SetItem> {
    return numbered(this.elements.length, from, index => this.elements[index] as Value)
  }

  override saved(): readonly StoredValue[] {
    return ['array', ...this.elements.map(saved)]
  }

  override reversed(): LazySet {
    step(this.elements.length)
    return new ArraySet(this.elements.toReversed())
  }
}

/** The integers from `from` (inclusive) to `until` (exclusive), in ascending or descending order. */
export class SequenceSet extends LazySet {
  readonly from: number
  readonly until: number
  readonly isReversed: boolean
  constructor(from: number, until: number, isReversed = false) {
    super()
    this.from = from
    this.until = until
    this.isReversed = isReversed
  }

  override items(_: Call, from: SetPlace | undefined): Iterable<SetItem> {
    const at = (index: number) => BigInt(this.isReversed ? this.until - 1 - index : this.from + index)
    return numbered(this.until - this.from, from, at)
  }

  override saved(): readonly StoredValue[] {
    return ['sequence', BigInt(this.from), BigInt(this.until), this.isReversed]
  }

  override reversed(): LazySet {
    return new SequenceSet(this.from, this.until, !this.isReversed)
  }
}

export class SingleSet extends LazySet {
  readonly element: Value
  constructor(element: Value) {
    super()
    this.element = element
  }

  override items(_: Call, from: SetPlace | undefined): Iterable<SetItem> {
    return numbered(1, from, () => this.element)
  }

  override saved(): readonly StoredValue[] {
    return ['single', saved(this.element)]
  }

  override reversed(): LazySet {
    return this
  }
}

/** Yields `count` elements from the place `from` on. A place is an index from 0. */
function* numbered(
  count: number,
  from: SetPlace | undefined,
  valueAt: (index: number) => Value,
): Generator<SetItem, void, void> {
  for (let index = Number(from ?? 0n); index < count; index++) {
    step()
    const at = index
    yield { kind: 'element', value: () => valueAt(at), place: () => BigInt(at) }
  }
}

export class ConcatSet extends LazySet {
  readonly first: LazySet
  readonly second: LazySet
  constructor(first: LazySet, second: LazySet) {
    super()
    this.first = first
    this.second = second
  }

  override *items(reading: Call, from: SetPlace | undefined): Generator<SetItem, void, void> {
    const [part, start] = (from ?? [0n]) as readonly [bigint, SetPlace?]
    if (part === 0n) {
      for (const item of this.first.items(reading, start)) {
        yield withPlace(item, () => [0n, item.place()])
      }
      yield { kind: 'boundary', place: () => [1n] }
    }
    for (const item of this.second.items(reading, part === 0n ? undefined : start)) {
      yield withPlace(item, () => [1n, item.place()])
    }
  }

  override saved(): readonly StoredValue[] {
    return ['concat', saved(this.first), saved(this.second)]
  }

  override reversed(): LazySet {
    return new ConcatSet(this.second.reversed(), this.first.reversed())
  }
}

/** A set that is derived from another set, with the same page size. */
export abstract class DerivedSet extends LazySet {
  readonly inner: LazySet
  constructor(inner: LazySet) {
    super()
    this.inner = inner
  }

  override get pageSize(): number {
    return this.inner.pageSize
  }

  override reversed(): LazySet {
    return new ReversedSet(this)
  }
}

export class TakeSet extends DerivedSet {
  readonly limit: number
  constructor(inner: LazySet, limit: number) {
    super(inner)
    this.limit = limit
  }

  /** A place consists of the number of elements before it, and the place in the inner set. */
  override *items(reading: Call, from: SetPlace | undefined): Generator<SetItem, void, void> {
    const [countBefore = 0n, start] = (from ?? []) as readonly [bigint?, SetPlace?]
    let count = Number(countBefore)
    if (count >= this.limit) return
    for (const item of this.inner.items(reading, start)) {
      const before = BigInt(count)
      yield withPlace(item, () => [before, item.place()])
      if (item.kind === 'element' && ++count >= this.limit) return
    }
  }

  override saved(): readonly StoredValue[] {
    return ['take', saved(this.inner), BigInt(this.limit)]
  }
}

export class DropSet extends DerivedSet {
  readonly amount: number
  constructor(inner: LazySet, amount: number) {
    super(inner)
    this.amount = amount
  }

  override *items(reading: Call, from: SetPlace | undefined): Generator<SetItem, void, void> {
    // Places are after the skipped elements.
    let left = from === undefined ? this.amount : 0
    for (const item of this.inner.items(reading, from)) {
      if (left <= 0 || item.kind === 'failed') yield item
      else if (item.kind === 'element') {
        step()
        left--
      }
    }
  }

  override saved(): readonly StoredValue[] {
    return ['drop', saved(this.inner), BigInt(this.amount)]
  }
}

/** A set that differs from the inner set only in its page size. */
export class PagedSet extends DerivedSet {
  readonly size: number
  constructor(inner: LazySet, size: number) {
    super(inner)
    this.size = size
  }

  override get pageSize(): number {
    return this.size
  }

  override items(reading: Call, from: SetPlace | undefined): Iterable<SetItem> {
    return this.inner.items(reading, from)
  }

  override saved(): readonly StoredValue[] {
    return ['paged', saved(this.inner), BigInt(this.size)]
  }

  override reversed(): LazySet {
    return new PagedSet(this.inner.reversed(), this.size)
  }
}

/** The distinct elements of a set, in ascending order. */
export class DistinctSet extends DerivedSet {
  override *items(reading: Call, from: SetPlace | undefined): Generator<SetItem, void, void> {
    const sorted = allElements(this.inner, reading).toSorted(compareTotally)
    const distinct = sorted.filter(
      (element, index) => index === 0 || !equalElements(sorted[index - 1] as Value, element),
    )
    yield* numbered(distinct.length, from, index => distinct[index] as Value)
  }

  override saved(): readonly StoredValue[] {
    return ['distinct', saved(this.inner)]
  }
}

/** A set in the order of the results of functions. */
export class OrderSet extends DerivedSet {
  readonly orderings: readonly Ordering[]
  readonly origin: Origin
  constructor(inner: LazySet, orderings: readonly Ordering[], origin: Origin) {
    super(inner)
    this.orderings = orderings
    this.origin = origin
  }

  override *items(reading: Call, from: SetPlace | undefined): Generator<SetItem, void, void> {
    const call = callAt(this.origin, reading)
    const sorted = sortBy(allElements(this.inner, reading), this.orderings, (element, { key }) =>
      key === undefined ? element : call.apply(key, element),
    )
    yield* numbered(sorted.length, from, index => sorted[index] as Value)
  }

  override saved(): readonly StoredValue[] {
    return [
      'order',
      saved(this.inner),
      this.orderings.map(({ key, isDescending }) => [key === undefined ? null : saved(key), isDescending]),
      savedTimes(this.origin),
    ]
  }

  override reversed(): LazySet {
    const used = this.orderings.length > 0 ? this.orderings : [{ key: undefined, isDescending: false }]
    const flipped = used.map(({ key, isDescending }) => ({ key, isDescending: !isDescending }))
    return new OrderSet(this.inner, flipped, this.origin)
  }
}

/** Reads the inner set completely. */
export class ReversedSet extends DerivedSet {
  override *items(reading: Call, from: SetPlace | undefined): Generator<SetItem, void, void> {
    const elements = allElements(this.inner, reading)
    yield* numbered(elements.length, from, index => elements.at(-1 - index) as Value)
  }

  override saved(): readonly StoredValue[] {
    return ['turned', saved(this.inner)]
  }

  override reversed(): LazySet {
    return this.inner
  }
}

/** Throws `value_too_large` if the set has more than `limits.v10ElementsMax` elements. */
export function allElements(set: LazySet, reading: Call): Value[] {
  const elements: Value[] = []
  for (const element of elementsOf(set, reading)) {
    step()
    if (elements.length === limits.v10ElementsMax) {
      const message = msg`Value too large: exceeded maximum number of elements (limit=${limits.v10ElementsMax}).`
      throw reading.failure('value_too_large', message)
    }
    elements.push(element)
  }
  return elements
}
