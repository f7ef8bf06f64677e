// Methods of arrays. They call their callbacks at once, element by element.

import { step } from '../../base/effort.ts'
import type { Call } from '../call.ts'
import { equalElements } from '../comparison.ts'
import { concatenate, requireExtent } from '../extent.ts'
import { ArraySet } from '../sets/sources.ts'
import { Doc, Id, integerOf, isArray, isNull, isNumber, type Value } from '../value.ts'
import { arrayOrderEntries } from './array-order.ts'
import { arraySearchEntries, within } from './array-search.ts'
import { elementEntries } from './elements.ts'
import { entriesFor, type Members, members } from './entry.ts'
import { any, array, callback, int } from './parameters.ts'
import { toText } from './to-text.ts'

const { field, method } = entriesFor<readonly Value[]>()

function* backwards(elements: readonly Value[]): Generator<Value, void, void> {
  for (let index = elements.length - 1; index >= 0; index--) yield elements[index] as Value
}

/** Requires an element to be an array. */
function inner(element: Value, call: Call): readonly Value[] {
  if (!isArray(element)) throw call.mismatch('Array<Any>', element)
  step(element.length)
  return element
}

/** The elements between two positions. Positions outside of the array are moved to its ends. */
function slice(elements: readonly Value[], from: number, until: number): readonly Value[] {
  return elements.slice(Math.max(0, from), Math.max(0, until))
}

const access = [
  field('length', {
    result: 'Number',
    summary: 'The number of elements.',
    example: ['[1, 2].length', '2'],
    read: elements => BigInt(elements.length),
  }),
  method('at', {
    parameters: { index: int },
    result: 'Any',
    summary: 'The element at a position, counted from 0.',
    example: ['["a", "b"].at(1)', '"b"'],
    run: (elements, { index }, call) => elementAt(elements, index, call),
  }),
  method('entries', {
    result: 'Array<[Number, Any]>',
    summary: 'Each element with its position before it.',
    example: ['["a"].entries()', '[\n  [\n    0,\n    "a"\n  ]\n]'],
    run: elements => {
      step(elements.length)
      return elements.map((element, index) => [BigInt(index), element])
    },
  }),
  method('toSet', {
    result: 'Set<Any>',
    summary: 'A lazy set of the elements.',
    example: ['[1, 2].toSet().count()', '2'],
    run: elements => new ArraySet(elements),
  }),
  toText('[1, "a"].toString()', '"[1, \\"a\\"]"', 'The array as text.'),
]

const parts = [
  method('append', {
    parameters: { element: any },
    result: 'Array<Any>',
    summary: 'This array with one more element at its end.',
    example: ['[1].append(2)', '[\n  1,\n  2\n]'],
    run: (elements, { element }, call) => concatenate(elements, [element], call),
  }),
  method('prepend', {
    parameters: { element: any },
    result: 'Array<Any>',
    summary: 'This array with one more element at its front.',
    example: ['[2].prepend(1)', '[\n  1,\n  2\n]'],
    run: (elements, { element }, call) => concatenate([element], elements, call),
  }),
  method('concat', {
    parameters: { other: array },
    result: 'Array<Any>',
    summary: 'This array followed by the elements of another.',
    example: ['[1].concat([2])', '[\n  1,\n  2\n]'],
    run: (elements, { other }, call) => concatenate(elements, other, call),
  }),
  method('take', {
    parameters: { limit: int },
    result: 'Array<Any>',
    summary: 'The first elements, up to a number.',
    example: ['[1, 2, 3].take(2)', '[\n  1,\n  2\n]'],
    run: (elements, { limit }) => slice(elements, 0, limit),
  }),
  method('drop', {
    parameters: { amount: int },
    result: 'Array<Any>',
    summary: 'The elements after a number of first elements.',
    example: ['[1, 2, 3].drop(2)', '[\n  3\n]'],
    run: (elements, { amount }) => slice(elements, amount, elements.length),
  }),
  method('slice', {
    parameters: { from: int },
    optional: { until: int },
    result: 'Array<Any>',
    summary: 'The elements from one position up to another; without the second up to the end.',
    example: ['[1, 2, 3].slice(1, 2)', '[\n  2\n]'],
    run: (elements, { from, until = elements.length }) => slice(elements, from, until),
  }),
  method('reverse', {
    result: 'Array<Any>',
    summary: 'The elements in the opposite order.',
    example: ['[1, 2].reverse()', '[\n  2,\n  1\n]'],
    run: elements => {
      step(elements.length)
      return elements.toReversed()
    },
  }),
  method('distinct', {
    result: 'Array<Any>',
    summary: 'The elements without repetitions, in the order of their first occurrence.',
    example: ['[1, 2, 1].distinct()', '[\n  1,\n  2\n]'],
    run: elements => {
      const distinct = new Distinct()
      return elements.filter(element => distinct.add(element))
    },
  }),
  method('flatten', {
    result: 'Array<Any>',
    summary: 'The elements of all arrays in the array.',
    example: ['[[1], [2]].flatten()', '[\n  1,\n  2\n]'],
    run: (elements, _, call) =>
      requireExtent(
        elements.flatMap(element => inner(element, call)),
        call,
      ),
  }),
]

const mapping = [
  method('map', {
    parameters: { mapper: callback(1) },
    result: 'Array<Any>',
    summary: 'The result of a function for each element.',
    example: ['[1, 2].map(n => n + 1)', '[\n  2,\n  3\n]'],
    run: (elements, { mapper }, call) =>
      requireExtent(
        elements.map(element => {
          step()
          return call.apply(mapper, element)
        }),
        call,
      ),
  }),
  method('flatMap', {
    parameters: { mapper: callback(1) },
    result: 'Array<Any>',
    summary: 'The elements of the arrays that a function returns for each element.',
    example: ['[1, 2].flatMap(n => [n, n])', '[\n  1,\n  1,\n  2,\n  2\n]'],
    run: (elements, { mapper }, call) =>
      requireExtent(
        elements.flatMap(element => inner(call.apply(mapper, element), call)),
        call,
      ),
  }),
  method('where', {
    parameters: { predicate: callback(1, 'pred') },
    result: 'Array<Any>',
    summary: 'The elements for which a predicate returns true.',
    example: ['[1, 2].where(n => n > 1)', '[\n  2\n]'],
    run: (elements, { predicate }, call) =>
      elements.filter(element => {
        step()
        return call.test(predicate, element)
      }),
  }),
  method('filter', {
    parameters: { predicate: callback(1) },
    result: 'Array<Any>',
    summary: 'The elements for which a predicate returns true.',
    example: ['[1, 2].filter(n => n > 1)', '[\n  2\n]'],
    run: (elements, { predicate }, call) =>
      elements.filter(element => {
        step()
        const result = call.apply(predicate, element)
        if (typeof result === 'boolean') return result
        if (isNull(result)) return false
        // The message names the type of the element instead of the result's type, as the original does.
        throw call.mismatch('Boolean', element)
      }),
  }),
]

/** The element at a position. Throws `index_out_of_bounds`. */
export function elementAt(elements: readonly Value[], index: number, call: Call): Value {
  return elements[within(elements, index, call)] as Value
}

/** The table of arrays. */
export const arrayMembers: Members = members('Array', [
  ...access,
  ...parts,
  ...mapping,
  ...elementEntries<readonly Value[]>({
    noun: 'array',
    made: '',
    called: 'fn',
    isEmpty: elements => elements.length === 0,
    elements: elements => elements,
    backwards,
  }),
  ...arraySearchEntries,
  ...arrayOrderEntries,
])

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

/**
 * Decides for each value whether it is new. Duplicates are equal as elements and have equal hashes, so an Int and a
 * Double of the same value are distinct, unless they are 0.
 */
class Distinct {
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
