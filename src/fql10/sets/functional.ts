// Sets whose elements depend on functions. The functions run on every read of the set, with the read times of the call
// that created the set.

import { step } from '../../base/effort.ts'
import type { Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { QueryFailure } from '../failure/query-failure.ts'
import { type FunctionValue, SetValue, type Value } from '../value.ts'
import { type SetItem, type SetPlace, withPlace } from './items.ts'
import { callAt, type LazySet, lazy, type Origin } from './lazy-set.ts'
import { DerivedSet } from './parts.ts'
import { saved, savedTimes } from './saved-values.ts'

abstract class FunctionSet extends DerivedSet {
  readonly applied: FunctionValue
  readonly origin: Origin
  constructor(inner: LazySet, applied: FunctionValue, origin: Origin) {
    super(inner)
    this.applied = applied
    this.origin = origin
  }

  /** Identifies this kind of set in cursors and event sources. */
  protected abstract readonly savedAs: string

  override saved(): readonly StoredValue[] {
    return [this.savedAs, saved(this.inner), saved(this.applied), savedTimes(this.origin)]
  }
}

export class WhereSet extends FunctionSet {
  protected override readonly savedAs = 'where'

  override *items(reading: Call, from: SetPlace | undefined): Generator<SetItem, void, void> {
    const call = callAt(this.origin, reading)
    for (const item of this.inner.items(reading, from)) {
      step()
      yield item.kind === 'element' ? this.#tested(item, call) : item
    }
  }

  /** A failure becomes an item, because a full page may end before this item. */
  #tested(item: Extract<SetItem, { kind: 'element' }>, call: Call): SetItem {
    const place = () => item.place()
    const tested = call.evaluation.catchFailure((): SetItem => {
      const value = item.value()
      return call.test(this.applied, value)
        ? { kind: 'element', value: () => value, place }
        : { kind: 'left out', place }
    })
    return tested instanceof QueryFailure ? { kind: 'failed', failure: tested, place } : tested
  }

  override reversed(): LazySet {
    return new WhereSet(this.inner.reversed(), this.applied, this.origin)
  }
}

export class MapSet extends FunctionSet {
  protected override readonly savedAs = 'map'

  override *items(reading: Call, from: SetPlace | undefined): Generator<SetItem, void, void> {
    const call = callAt(this.origin, reading)
    for (const item of this.inner.items(reading, from)) {
      step()
      if (item.kind !== 'element') yield item
      else {
        const value = () => call.apply(this.applied, item.value())
        yield { kind: 'element', value, place: () => item.place() }
      }
    }
  }

  override reversed(): LazySet {
    return new MapSet(this.inner.reversed(), this.applied, this.origin)
  }
}

/** The elements of all sets that a function returns for the elements of another set. */
export class FlatMapSet extends FunctionSet {
  protected override readonly savedAs = 'flatMap'
  /** True if the inner sets are reversed. */
  readonly isReversed: boolean
  constructor(inner: LazySet, mapper: FunctionValue, origin: Origin, isReversed = false) {
    super(inner, mapper, origin)
    this.isReversed = isReversed
  }

  /** A place consists of the places of the outer and of the inner element. */
  override *items(reading: Call, from: SetPlace | undefined): Generator<SetItem, void, void> {
    const call = callAt(this.origin, reading)
    const [outerFrom, innerFrom] = (from ?? []) as readonly [SetPlace?, SetPlace?]
    let start = innerFrom
    let isFirst = true
    for (const outer of this.inner.items(reading, outerFrom)) {
      step()
      const place = () => [outer.place()]
      if (outer.kind !== 'element') {
        yield withPlace(outer, place)
        continue
      }
      // A full page can end here, before the next inner set is read. The next page then reads this inner set.
      if (!isFirst) yield { kind: 'boundary', place }
      isFirst = false
      for (const item of this.#innerOf(outer.value(), call).items(reading, start)) {
        yield withPlace(item, () => [outer.place(), item.place()])
      }
      start = undefined
    }
  }

  #innerOf(element: Value, call: Call): LazySet {
    const made = call.apply(this.applied, element)
    if (!(made instanceof SetValue)) throw call.mismatch('Set<Any>', made)
    return this.isReversed ? lazy(made).reversed() : lazy(made)
  }

  override saved(): readonly StoredValue[] {
    return [...super.saved(), this.isReversed]
  }

  override reversed(): LazySet {
    return new FlatMapSet(this.inner.reversed(), this.applied, this.origin, !this.isReversed)
  }
}
