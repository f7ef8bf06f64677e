// The set operations on arrays and pages. The results retain the order of the elements and depend on how often each
// value occurs. Values are compared by deep equality. The integer 1 and the double 1.0 are different values.

import type { Value } from '../../values/value.ts'
import { ValueKeys } from '../../values/value-keys.ts'
import { Page } from '../values/transient.ts'

function countsOf(array: readonly Value[], keys: ValueKeys): Map<string, number> {
  const counts = new Map<string, number>()
  for (const value of array) {
    const key = keys.keyOf(value)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

/** Removes one occurrence of a value from the counts. Returns false if the counts contain no occurrence. */
function take(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key) ?? 0
  if (count === 0) return false
  counts.set(key, count - 1)
  return true
}

/** Keeps the order of first occurrences. Each value occurs as often as in the array with the most occurrences. */
export function unionOf(arrays: readonly (readonly Value[])[]): Value[] {
  const keys = new ValueKeys()
  const most = new Map<string, { readonly value: Value; count: number }>()
  for (const array of arrays) {
    const counts = new Map<string, number>()
    for (const value of array) {
      const key = keys.keyOf(value)
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      const known = most.get(key)
      if (!known) most.set(key, { value, count })
      else if (count > known.count) known.count = count
    }
  }
  return [...most.values()].flatMap(({ value, count }) => new Array<Value>(count).fill(value))
}

/** Keeps the order of the first array. Each value occurs as often as in the array with the fewest occurrences. */
export function intersectionOf(arrays: readonly (readonly Value[])[]): readonly Value[] {
  const [first, ...others] = arrays as readonly [readonly Value[]]
  const keys = new ValueKeys()
  return others.reduce<readonly Value[]>((shared, other) => {
    const counts = countsOf(other, keys)
    return shared.filter(value => take(counts, keys.keyOf(value)))
  }, first)
}

/** Removes one equal element from the first array for each element of the other arrays. */
export function differenceOf(arrays: readonly (readonly Value[])[]): readonly Value[] {
  const [first, ...others] = arrays as readonly [readonly Value[]]
  const keys = new ValueKeys()
  const counts = countsOf(others.flat(), keys)
  return first.filter(value => !take(counts, keys.keyOf(value)))
}

export function distinctOf(elements: readonly Value[] | Page): Value {
  const data = elements instanceof Page ? elements.data : elements
  const keys = new ValueKeys()
  const seen = new Set<string>()
  const kept: number[] = []
  for (const [index, value] of data.entries()) {
    const { size } = seen
    if (seen.add(keys.keyOf(value)).size > size) kept.push(index)
  }
  const pick = <T>(items: readonly T[]): T[] => kept.map(index => items[index] as T)
  if (!(elements instanceof Page)) return pick(data)
  const { before, after } = elements
  const pickPositions = () => {
    const { positions } = elements
    return positions.length === 0 ? [] : pick(positions)
  }
  return new Page(pick(data), before, after, pickPositions)
}

/** The cursors do not change. */
export function reversedPage(page: Page): Page {
  return new Page(page.data.toReversed(), page.before, page.after, () => page.positions.toReversed())
}
