// Detects duplicates among the elements of arrays and sets. Duplicates are equal as elements and have equal hashes, so
// an Int and a Double of the same value are distinct, unless they are 0.

import { step } from '../base/effort.ts'
import { equalElements } from './comparison.ts'
import { Doc, Id, integerOf, isNull, isNumber, type Value } from './value.ts'

/** A text that equal values share. Undefined for values that need an element-by-element comparison. */
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

/** Decides for each value whether it is new. */
export class Distinct {
  readonly #keys = new Set<string>()
  readonly #others: Value[] = []

  /** Adds a value. Returns false if an equal value was added before. */
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
