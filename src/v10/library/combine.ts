// `aggregate`, as arrays and sets have it.

import { step } from '../../base/effort.ts'
import type { Call } from '../call.ts'
import type { FunctionValue, Value } from '../value.ts'

/** Combines neighbours in pairs, and the results again, until one is left, which is combined with the seed at last. */
export function combine(elements: readonly Value[], seed: Value, combiner: FunctionValue, call: Call): Value {
  if (elements.length === 0) return seed
  let level = elements
  while (level.length > 1) {
    const next: Value[] = []
    for (let at = 0; at < level.length; at += 2) {
      step()
      const left = level[at] as Value
      next.push(at + 1 < level.length ? call.apply(combiner, left, level[at + 1] as Value) : left)
    }
    level = next
  }
  return call.apply(combiner, level[0] as Value, seed)
}
