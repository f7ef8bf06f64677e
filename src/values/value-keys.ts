// Computes keys of values, for maps and sets. Two values have the same key if and only if they are equal by
// `equalValues`. The key of an array or object contains the keys of its elements or fields. A long key is replaced by a
// number, so the time to compute a key depends only on the distinct parts of the value, not on their nesting or
// repetition.

import { step } from '../base/effort.ts'
import { upsert } from '../base/upsert.ts'
import { partsOf, type Tagged } from './equality.ts'
import { sortedFields } from './order.ts'
import { Transient, type Value } from './value.ts'

/** Longer keys are replaced by a number. */
const plainKeyMax = 64

/**
 * Returns a key that depends on the value alone, so keys of different calls and processes are comparable. The length of
 * the key grows with the size of the value.
 */
export function fullKeyOf(value: Value): string {
  return new ValueKeys(Number.POSITIVE_INFINITY).keyOf(value)
}

/** Only the keys of one instance are comparable with one another, because they can contain the instance's numbers. */
export class ValueKeys {
  readonly #plainMax: number
  readonly #numbers = new Map<string, number>()
  readonly #known = new WeakMap<object, string>()

  constructor(plainMax = plainKeyMax) {
    this.#plainMax = plainMax
  }

  keyOf(value: Value): string {
    step()
    switch (typeof value) {
      case 'string':
        return this.#shortened(textKey(value))
      case 'bigint':
        return `i${value};`
      case 'number':
        return Object.is(value, -0) ? 'd-0;' : `d${value};`
      case 'boolean':
        return value ? 't' : 'f'
    }
    if (value === null) return 'n'
    const known = this.#known.get(value)
    if (known !== undefined) return known
    const text = this.#textOf(value)
    const key = this.#shortened(text)
    if (key !== text) this.#known.set(value, key)
    return key
  }

  #textOf(value: Exclude<Value, string | bigint | number | boolean | null>): string {
    if (Array.isArray(value)) return this.#arrayText(value)
    if (value instanceof Map) {
      const fields = sortedFields(value).map(
        ([name, field]) => this.#shortened(textKey(name)) + this.keyOf(field),
      )
      return `o${value.size}:${fields.join('')}`
    }
    if (value instanceof Uint8Array) {
      step(value.length >> 3)
      return `b${value.length}:${value.join()};`
    }
    const tagged = value as Tagged
    if (tagged instanceof Transient && tagged.word !== undefined) return textKey(tagged.word)
    return `k${tagged.kind}:${this.#arrayText(partsOf(tagged))}`
  }

  #arrayText(array: readonly Value[]): string {
    return `a${array.length}:${array.map(element => this.keyOf(element)).join('')}`
  }

  #shortened(text: string): string {
    if (text.length <= this.#plainMax) return text
    step(text.length >> 4)
    return `#${upsert(this.#numbers, text, () => this.#numbers.size)};`
  }
}

function textKey(text: string): string {
  return `s${text.length}:${text}`
}
