// Sets whose elements functions decide about. The functions run when a set is read, as often as it is read, as of where the
// set was made.

import { step } from '../../base/effort.ts'
import type { Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { type FunctionValue, SetValue, type Value } from '../value.ts'
import { type Item, type Place, placed } from './items.ts'
import { callAt, DerivedSet, type LazySet, lazy, type Origin, type Save, savedOrigin } from './set.ts'

/** The elements for which a predicate holds. */
export class WhereSet extends DerivedSet {
  readonly predicate: FunctionValue
  readonly origin: Origin
  constructor(inner: LazySet, predicate: FunctionValue, origin: Origin) {
    super(inner)
    this.predicate = predicate
    this.origin = origin
  }

  override *items(reading: Call, from: Place | undefined): Generator<Item, void, void> {
    const call = callAt(this.origin, reading)
    for (const item of this.inner.items(reading, from)) {
      step()
      if (item.kind === 'boundary') yield item
      else {
        const value = item.value()
        if (call.holds(this.predicate, value))
          yield { kind: 'element', value: () => value, place: () => item.place() }
      }
    }
  }

  override saved(save: Save): readonly StoredValue[] {
    return ['where', save(this.inner), save(this.predicate), savedOrigin(this.origin)]
  }

  override reversed(): LazySet {
    return new WhereSet(this.inner.reversed(), this.predicate, this.origin)
  }
}

/** What a function gives for each element. */
export class MapSet extends DerivedSet {
  readonly mapper: FunctionValue
  readonly origin: Origin
  constructor(inner: LazySet, mapper: FunctionValue, origin: Origin) {
    super(inner)
    this.mapper = mapper
    this.origin = origin
  }

  override *items(reading: Call, from: Place | undefined): Generator<Item, void, void> {
    const call = callAt(this.origin, reading)
    for (const item of this.inner.items(reading, from)) {
      step()
      if (item.kind === 'boundary') yield item
      else {
        const value = () => call.apply(this.mapper, item.value())
        yield { kind: 'element', value, place: () => item.place() }
      }
    }
  }

  override saved(save: Save): readonly StoredValue[] {
    return ['map', save(this.inner), save(this.mapper), savedOrigin(this.origin)]
  }

  override reversed(): LazySet {
    return new MapSet(this.inner.reversed(), this.mapper, this.origin)
  }
}

/** The elements of the sets that a function gives for each element. */
export class FlatMapSet extends DerivedSet {
  readonly mapper: FunctionValue
  readonly origin: Origin
  readonly isReversed: boolean
  constructor(inner: LazySet, mapper: FunctionValue, origin: Origin, isReversed = false) {
    super(inner)
    this.mapper = mapper
    this.origin = origin
    this.isReversed = isReversed
  }

  /** A place is that of the outer element with that of the inner one. */
  override *items(reading: Call, from: Place | undefined): Generator<Item, void, void> {
    const call = callAt(this.origin, reading)
    const [outerFrom, innerFrom] = (from ?? []) as readonly [Place?, Place?]
    let start = innerFrom
    for (const outer of this.inner.items(reading, outerFrom)) {
      step()
      if (outer.kind === 'boundary') {
        yield { kind: 'boundary', place: () => [outer.place()] }
        continue
      }
      for (const item of this.#innerOf(outer.value(), call).items(reading, start)) {
        yield placed(item, () => [outer.place(), item.place()])
      }
      start = undefined
    }
  }

  #innerOf(element: Value, call: Call): LazySet {
    const made = call.apply(this.mapper, element)
    if (!(made instanceof SetValue)) throw call.mismatch('Set<Any>', made)
    return this.isReversed ? lazy(made).reversed() : lazy(made)
  }

  override saved(save: Save): readonly StoredValue[] {
    return ['flatMap', save(this.inner), save(this.mapper), savedOrigin(this.origin), this.isReversed]
  }

  override reversed(): LazySet {
    return new FlatMapSet(this.inner.reversed(), this.mapper, this.origin, !this.isReversed)
  }
}
