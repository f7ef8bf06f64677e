// Finds duplicates among the elements of an array, without comparing each pair of elements.

import { step } from '../../base/effort.ts'
import { equalElements } from '../comparison.ts'
import { Doc, Id, integerOf, isNull, isNumber, type Value } from '../value.ts'

/** Equal values have equal keys. Returns undefined for values that must be compared with `equalElements`. */
function keyOf(value: Value): string | undefined {
  if (isNumber(value)) {
    const integer = integerOf(value)
    if (integer !== undefined) return `i${integer}`
    if (Object.is(value, 0)) return 'i0'
    if (Object.is(value, -0)) return 'd-0'
    return Number.isNaN(value) ? undefined : `d${value}`
  }
  if (typeof value === 'string') return `s${value}`
  if (typeof value === 'boolean') return `b${value}`
  if (isNull(value)) return 'n'
  if (value instanceof Id) return `#${value.value}`
  return value instanceof Doc ? `r${value.ref.collection}/${value.ref.id}` : undefined
}

/**
 * Differs from {@link equalElements}, because the hosted service also compares hash codes: an integer and a Double are
 * distinct, except for 0 and 0.0. 0.0 and -0.0 are distinct, and so are an ID and a text.
 */
export class Distinct {
  readonly #keys = new Set<string>()
  readonly #others: Value[] = []

  /** Returns false if an equal value was added before. */
  add(value: Value): boolean {
    step()
    const key = keyOf(value)
    if (key !== undefined) {
      if (this.#keys.has(key)) return false
      this.#keys.add(key)
      return true
    }
    if (this.#others.some(other => equalElements(other, value))) return false
    this.#others.push(value)
    return true
  }
}
