// Values without those that are there before, as arrays and sets have it: equal as elements are, and of equal hashes. So an
// Int and a Double of one value are two, unless they are 0.

import { step } from '../base/effort.ts'
import { equalElements } from './comparison.ts'
import { Doc, Id, integerOf, isNull, isNumber, type Value } from './value.ts'

/** A text that is the same for values that are one; undefined for those that have to be compared one by one. */
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

/** Tells of each value whether it is new. */
export class Distinct {
  readonly #keys = new Set<string>()
  readonly #others: Value[] = []

  /** Notes a value; false when an equal one was noted before. */
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
