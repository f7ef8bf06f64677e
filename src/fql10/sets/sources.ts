// Sets with elements of their own: arrays, sequences of integers, and single values.

import { step } from '../../base/effort.ts'
import type { Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import type { Value } from '../value.ts'
import type { SetItem, SetPosition } from './items.ts'
import { LazySet, type Save } from './lazy-set.ts'

/** The elements of an array. */
export class ArraySet extends LazySet {
  readonly elements: readonly Value[]
  constructor(elements: readonly Value[]) {
    super()
    this.elements = elements
  }

  override items(_: Call, from: SetPosition | undefined): Iterable<SetItem> {
    return numbered(this.elements.length, from, index => this.elements[index] as Value)
  }

  override saved(save: Save): readonly StoredValue[] {
    return ['array', ...this.elements.map(save)]
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

  override items(_: Call, from: SetPosition | undefined): Iterable<SetItem> {
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

/** A set with one element. */
export class SingleSet extends LazySet {
  readonly element: Value
  constructor(element: Value) {
    super()
    this.element = element
  }

  override items(_: Call, from: SetPosition | undefined): Iterable<SetItem> {
    return numbered(1, from, () => this.element)
  }

  override saved(save: Save): readonly StoredValue[] {
    return ['single', save(this.element)]
  }

  override reversed(): LazySet {
    return this
  }
}

/** Elements whose positions are numbers from 0. */
export function* numbered(
  count: number,
  from: SetPosition | undefined,
  valueAt: (index: number) => Value,
): Generator<SetItem, void, void> {
  for (let index = Number(from ?? 0n); index < count; index++) {
    step()
    const at = index
    yield { kind: 'element', value: () => valueAt(at), position: () => BigInt(at) }
  }
}
