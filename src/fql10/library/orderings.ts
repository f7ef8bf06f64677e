// Sorts elements by the keys that functions return.

import { step } from '../../base/effort.ts'
import type { Call } from '../call.ts'
import { compareTotally } from '../comparison.ts'
import { type FunctionValue, isFunction, isStruct, type Value } from '../value.ts'
import { check } from './invoke.ts'
import { callback } from './parameters.ts'

/** A sort key and its direction. If `key` is undefined, each element is its own key. */
export interface Ordering {
  readonly key: FunctionValue | undefined
  readonly isDescending: boolean
}

/** The arguments are functions, or objects with a single field `asc` or `desc`. */
export function orderingsOf(args: readonly Value[], call: Call): readonly Ordering[] {
  return args.map((arg, index) => {
    const { key, isDescending } = orderingOf(arg)
    return { key: check(`ordering${index}`, callback(1), key, call), isDescending }
  })
}

/** If the argument is invalid, the returned key is not a function, and the caller rejects the key. */
function orderingOf(arg: Value): { readonly key: Value; readonly isDescending: boolean } {
  if (isStruct(arg) && arg.size === 1) {
    for (const isDescending of [false, true]) {
      const key = arg.get(isDescending ? 'desc' : 'asc')
      if (key !== undefined && isFunction(key)) return { key, isDescending }
    }
  }
  return { key: arg, isDescending: false }
}

/** The sort is stable. */
export function sortBy<T>(
  elements: readonly T[],
  orderings: readonly Ordering[],
  keyOf: (element: T, ordering: Ordering) => Value,
): T[] {
  const used = orderings.length > 0 ? orderings : [{ key: undefined, isDescending: false }]
  const keyed = elements.map(element => {
    step()
    return { element, keys: used.map(ordering => keyOf(element, ordering)) }
  })
  keyed.sort((left, right) => {
    for (const [index, { isDescending }] of used.entries()) {
      const order = compareTotally(left.keys[index] as Value, right.keys[index] as Value)
      if (order !== 0) return isDescending ? -order : order
    }
    return 0
  })
  return keyed.map(({ element }) => element)
}
