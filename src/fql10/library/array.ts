// Methods of arrays and the module Array. Methods call their callbacks immediately, element by element.

import { step } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import type { Call } from '../call.ts'
import { equalElements } from '../comparison.ts'
import { ArraySet } from '../sets/parts.ts'
import {
  Doc,
  type FunctionValue,
  Id,
  integerOf,
  isArray,
  isNull,
  isNumber,
  type Module,
  type Value,
} from '../value.ts'
import { concatenate, requireExtent } from '../value-limits.ts'
import { elementEntries } from './elements.ts'
import { entriesFor, type LibraryEntry, type Members, members } from './entry.ts'
import { orderingsOf, sortBy } from './orderings.ts'
import { any, array, callback, int } from './parameters.ts'
import { toText } from './to-text.ts'

// Searching for elements in arrays.

const { field, method, variadic } = entriesFor<readonly Value[]>()

type Elements = readonly Value[]

/** Throws `index_out_of_bounds`. */
function within(elements: Elements, index: number, call: Call): number {
  if (index >= 0 && index < elements.length) return index
  throw call.outOfBounds(index, elements.length)
}

const startOf = (elements: Elements, start: number | undefined, call: Call) =>
  start === undefined ? 0 : within(elements, start, call)

const endOf = (elements: Elements, end: number | undefined, call: Call) =>
  end === undefined ? elements.length - 1 : within(elements, end, call)

const found = (index: number, call: Call): Value =>
  index < 0 ? call.nothing(msg`no element found`) : BigInt(index)

/** Returns -1 if no element at or after `start` passes. */
function firstIndex(elements: Elements, start: number, test: (element: Value) => boolean): number {
  for (let index = start; index < elements.length; index++) {
    step()
    if (test(elements[index] as Value)) return index
  }
  return -1
}

/** Returns -1 if no element at or before `end` passes. */
function lastIndex(elements: Elements, end: number, test: (element: Value) => boolean): number {
  for (let index = end; index >= 0; index--) {
    step()
    if (test(elements[index] as Value)) return index
  }
  return -1
}

const same = (element: Value) => (other: Value) => equalElements(other, element)

const predicateTest = (predicate: FunctionValue, call: Call) => (element: Value) =>
  call.test(predicate, element)

/** Tests all elements, even if the caller uses only the first or the last result. */
function filterAll(elements: Elements, predicate: FunctionValue, call: Call): readonly Value[] {
  return elements.filter(element => {
    step()
    return call.test(predicate, element)
  })
}

const arraySearchEntries: readonly LibraryEntry[] = [
  method('indexOf', {
    parameters: { element: any },
    optional: { start: int },
    type: '<A> ((element: A) => Number | Null) & ((element: A, start: Number) => Number | Null)',
    summary:
      'Returns the position of the first element that equals `element`, or null if there is none. The search begins at `start` (default 0); a `start` outside of the array is an error.',
    example: ['["a", "b", "a"].indexOf("a", 1)', '2'],
    run: (elements, { element, start }, call) =>
      found(firstIndex(elements, startOf(elements, start, call), same(element)), call),
  }),
  method('lastIndexOf', {
    parameters: { element: any },
    optional: { end: int },
    type: '<A> ((element: A) => Number | Null) & ((element: A, end: Number) => Number | Null)',
    summary:
      'Returns the position of the last element that equals `element`, or null if there is none. The search goes backward from `end` (default: the last position); an `end` outside of the array is an error.',
    example: ['["a", "b", "a"].lastIndexOf("a")', '2'],
    run: (elements, { element, end }, call) =>
      found(lastIndex(elements, endOf(elements, end, call), same(element)), call),
  }),
  method('firstWhere', {
    parameters: { predicate: callback(1, 'pred') },
    type: '<A> (predicate: (A => Boolean | Null)) => A | Null',
    summary: 'Returns the first element for which `predicate` returns true, or null if there is none.',
    example: ['[1, 2, 3].firstWhere(n => n > 1)', '2'],
    run: (elements, { predicate }, call) =>
      filterAll(elements, predicate, call)[0] ?? call.nothing(msg`no element found`),
  }),
  method('lastWhere', {
    parameters: { predicate: callback(1, 'pred') },
    type: '<A> (predicate: (A => Boolean | Null)) => A | Null',
    summary: 'Returns the last element for which `predicate` returns true, or null if there is none.',
    example: ['[1, 2, 3].lastWhere(n => n > 1)', '3'],
    run: (elements, { predicate }, call) =>
      filterAll(elements, predicate, call).at(-1) ?? call.nothing(msg`no element found`),
  }),
  method('indexWhere', {
    parameters: { predicate: callback(1) },
    optional: { start: int },
    type: '<A> ((predicate: (A => Boolean | Null)) => Number | Null) & ((predicate: A => Boolean | Null, start: Number) => Number | Null)',
    summary:
      'Returns the position of the first element for which `predicate` returns true, or null if there is none. The search begins at `start` (default 0); a `start` outside of the array is an error.',
    example: ['[1, 2, 3].indexWhere(n => n > 1)', '1'],
    run: (elements, { predicate, start }, call) =>
      found(firstIndex(elements, startOf(elements, start, call), predicateTest(predicate, call)), call),
  }),
  method('lastIndexWhere', {
    parameters: { predicate: callback(1) },
    optional: { end: int },
    type: '<A> ((predicate: (A => Boolean | Null)) => Number | Null) & ((predicate: A => Boolean | Null, end: Number) => Number | Null)',
    summary:
      'Returns the position of the last element for which `predicate` returns true, or null if there is none. The search goes backward from `end` (default: the last position); an `end` outside of the array is an error.',
    example: ['[1, 2, 3].lastIndexWhere(n => n > 1)', '2'],
    run: (elements, { predicate, end }, call) =>
      found(lastIndex(elements, endOf(elements, end, call), predicateTest(predicate, call)), call),
  }),
]

// Sorting of arrays, and the table of the module Array.

const { method: moduleMethod } = entriesFor<Module>()

const arrayOrderEntries: readonly LibraryEntry[] = [
  variadic('order', {
    rest: ['ordering', any],
    type: '<A> (ordering: ...(A => Any) | { asc: A => Any } | { desc: A => Any }) => Array<A>',
    summary:
      'Sorts the elements. Each argument is a function that returns the sort key, or the result of `asc` or `desc`; without arguments, the elements are sorted by their own values.',
    example: ['[3, 1].order(asc(n => n))', '[\n  1,\n  3\n]'],
    run: (elements, args, call) => {
      const orderings = orderingsOf(args, call)
      // A sort function must not write, because the order of elements must not depend on writes during sorting.
      const within = call.as({ limit: { effect: 'read', place: 'set functions' } })
      return sortBy(elements, orderings, (element, { key }) =>
        key === undefined ? element : within.apply(key, element),
      )
    },
  }),
]

export const arrayModule: Members = members('Array', [
  moduleMethod('sequence', {
    parameters: { from: int, until: int },
    type: '(from: Number, until: Number) => Array<Number>',
    summary: 'Returns the integers from `from` up to, but not including, `until`.',
    example: ['Array.sequence(1, 3)', '[\n  1,\n  2\n]'],
    run: (_, { from, until }, call) => {
      const size = until - from
      if (size > limits.v10ElementsMax) {
        const message = msg`Value too large: range size ${size} exceeds limit ${limits.v10ElementsMax}.`
        throw call.failure('value_too_large', message)
      }
      return Array.from({ length: Math.max(0, size) }, (_, index) => BigInt(from + index))
    },
  }),
])

function* backwards(elements: readonly Value[]): Generator<Value, void, void> {
  for (let index = elements.length - 1; index >= 0; index--) yield elements[index] as Value
}

function inner(element: Value, call: Call): readonly Value[] {
  if (!isArray(element)) throw call.mismatch('Array<Any>', element)
  step(element.length)
  return element
}

/** Positions outside of the array are moved to its ends. */
function slice(elements: readonly Value[], from: number, until: number): readonly Value[] {
  return elements.slice(Math.max(0, from), Math.max(0, until))
}

const access = [
  field('length', {
    type: 'Number',
    summary: 'The number of elements.',
    example: ['[1, 2].length', '2'],
    read: elements => BigInt(elements.length),
  }),
  method('at', {
    parameters: { index: int },
    type: '<A> (index: Number) => A',
    summary:
      'Returns the element at the position `index`, counted from 0. A position outside of the array is an error.',
    example: ['["a", "b"].at(1)', '"b"'],
    run: (elements, { index }, call) => elementAt(elements, index, call),
  }),
  method('entries', {
    type: '<A> () => Array<[Number, A]>',
    summary: 'Returns a `[position, element]` pair for each element.',
    example: ['["a"].entries()', '[\n  [\n    0,\n    "a"\n  ]\n]'],
    run: elements => {
      step(elements.length)
      return elements.map((element, index) => [BigInt(index), element])
    },
  }),
  method('toSet', {
    type: '<A> () => Set<A>',
    summary: 'Converts the array to a set of its elements.',
    example: ['[1, 2].toSet().count()', '2'],
    run: elements => new ArraySet(elements),
  }),
  toText('[1, "a"].toString()', '"[1, \\"a\\"]"', 'Converts the array to a string.'),
]

const parts = [
  method('append', {
    parameters: { element: any },
    type: '<A> (element: A) => Array<A>',
    summary: 'Returns a new array with `element` added at the end.',
    example: ['[1].append(2)', '[\n  1,\n  2\n]'],
    run: (elements, { element }, call) => concatenate(elements, [element], call),
  }),
  method('prepend', {
    parameters: { element: any },
    type: '<A> (element: A) => Array<A>',
    summary: 'Returns a new array with `element` added at the beginning.',
    example: ['[2].prepend(1)', '[\n  1,\n  2\n]'],
    run: (elements, { element }, call) => concatenate([element], elements, call),
  }),
  method('concat', {
    parameters: { other: array },
    type: '<A, B> (other: Array<B>) => Array<A | B>',
    summary: 'Returns a new array: the elements of this array, followed by the elements of `other`.',
    example: ['[1].concat([2])', '[\n  1,\n  2\n]'],
    run: (elements, { other }, call) => concatenate(elements, other, call),
  }),
  method('take', {
    parameters: { limit: int },
    type: '<A> (limit: Number) => Array<A>',
    summary: 'Returns the first `limit` elements, or all elements if there are fewer.',
    example: ['[1, 2, 3].take(2)', '[\n  1,\n  2\n]'],
    run: (elements, { limit }) => slice(elements, 0, limit),
  }),
  method('drop', {
    parameters: { amount: int },
    type: '<A> (amount: Number) => Array<A>',
    summary: 'Returns the array without its first `amount` elements.',
    example: ['[1, 2, 3].drop(2)', '[\n  3\n]'],
    run: (elements, { amount }) => slice(elements, amount, elements.length),
  }),
  method('slice', {
    parameters: { from: int },
    optional: { until: int },
    type: '<A> ((from: Number) => Array<A>) & ((from: Number, until: Number) => Array<A>)',
    summary:
      'Returns the elements from the position `from` up to, but not including, `until`. If `until` is missing, the result extends to the end of the array; negative positions count as 0.',
    example: ['[1, 2, 3].slice(1, 2)', '[\n  2\n]'],
    run: (elements, { from, until = elements.length }) => slice(elements, from, until),
  }),
  method('reverse', {
    type: '<A> () => Array<A>',
    summary: 'Returns the elements in reverse order.',
    example: ['[1, 2].reverse()', '[\n  2,\n  1\n]'],
    run: elements => {
      step(elements.length)
      return elements.toReversed()
    },
  }),
  method('distinct', {
    type: '<A> () => Array<A>',
    summary: 'Returns the elements without duplicates, in the order of their first occurrence.',
    example: ['[1, 2, 1].distinct()', '[\n  1,\n  2\n]'],
    run: elements => {
      const distinct = new Distinct()
      return elements.filter(element => distinct.add(element))
    },
  }),
  method('flatten', {
    type: '() => Array<Any>',
    summary:
      'Returns the elements of all inner arrays in one array. An element that is not an array is an error.',
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
    type: '<A, B> (mapper: (A => B)) => Array<B>',
    summary: 'Calls `mapper` with each element and returns the results.',
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
    type: '<A, B> (mapper: (A => Array<B>)) => Array<B>',
    summary:
      'Calls `mapper`, which returns an array, with each element. Returns the elements of all these arrays in one array.',
    example: ['[1, 2].flatMap(n => [n, n])', '[\n  1,\n  1,\n  2,\n  2\n]'],
    run: (elements, { mapper }, call) =>
      requireExtent(
        elements.flatMap(element => inner(call.apply(mapper, element), call)),
        call,
      ),
  }),
  method('where', {
    parameters: { predicate: callback(1, 'pred') },
    type: '<A> (predicate: (A => Boolean | Null)) => Array<A>',
    summary: 'Returns the elements for which `predicate` returns true. A result of null counts as false.',
    example: ['[1, 2].where(n => n > 1)', '[\n  2\n]'],
    run: (elements, { predicate }, call) => filterAll(elements, predicate, call),
  }),
  method('filter', {
    parameters: { predicate: callback(1) },
    type: '<A> (predicate: (A => Boolean | Null)) => Array<A>',
    summary: 'Returns the elements for which `predicate` returns true. A result of null counts as false.',
    example: ['[1, 2].filter(n => n > 1)', '[\n  2\n]'],
    run: (elements, { predicate }, call) =>
      elements.filter(element => {
        step()
        const result = call.apply(predicate, element)
        if (typeof result === 'boolean') return result
        if (isNull(result)) return false
        // The message names the type of the element instead of the result's type, as the hosted service does.
        throw call.mismatch('Boolean', element)
      }),
  }),
]

/** Throws `index_out_of_bounds`. */
export function elementAt(elements: readonly Value[], index: number, call: Call): Value {
  return elements[within(elements, index, call)] as Value
}

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

/** Equal values have equal keys. Undefined for values that must be compared with `equalElements`. */
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
 * The integer 1 and the Double 1.0 are distinct, but 0 and 0.0 are equal. All other values are compared as in
 * {@link equalElements}.
 */
class Distinct {
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
