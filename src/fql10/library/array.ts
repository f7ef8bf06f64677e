// Methods of arrays. Methods call their callbacks immediately, element by element.

import { step } from '../../base/effort.ts'
import type { Call } from '../call.ts'
import { stricterLimit } from '../sets/lazy-set.ts'
import { ArraySet } from '../sets/parts.ts'
import { isArray, isNull, type Value } from '../value.ts'
import { concatenate, requireExtent } from '../value-limits.ts'
import { arraySearchEntries, elementAt, filterAll } from './array-search.ts'
import { Distinct } from './distinct-elements.ts'
import { elementEntries } from './elements.ts'
import { entriesFor, type Members, members } from './entry.ts'
import { orderingsOf, sortBy } from './orderings.ts'
import { any, array, callback, int } from './parameters.ts'
import { toText } from './to-text.ts'

const { field, method, variadic } = entriesFor<readonly Value[]>()

function* backwards(elements: readonly Value[]): Generator<Value, void, void> {
  for (let index = elements.length - 1; index >= 0; index--) yield elements[index] as Value
}

function requireArray(element: Value, call: Call): readonly Value[] {
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
        elements.flatMap(element => requireArray(element, call)),
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
        elements.flatMap(element => requireArray(call.apply(mapper, element), call)),
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

export const arrayMembers: Members = members('Array', [
  ...access,
  ...parts,
  ...mapping,
  ...elementEntries<readonly Value[]>({
    noun: 'array',
    conversion: '',
    parameter: 'fn',
    isEmpty: elements => elements.length === 0,
    elements: elements => elements,
    backwards,
  }),
  ...arraySearchEntries,
  variadic('order', {
    rest: ['ordering', any],
    type: '<A> (ordering: ...(A => Any) | { asc: A => Any } | { desc: A => Any }) => Array<A>',
    summary:
      'Sorts the elements. Each argument is a function that returns the sort key, or the result of `asc` or `desc`; without arguments, the elements are sorted by their own values.',
    example: ['[3, 1].order(asc(n => n))', '[\n  1,\n  3\n]'],
    run: (elements, args, call) => {
      const orderings = orderingsOf(args, call)
      // A sort function must not write, because the order of elements must not depend on writes during sorting.
      const limit = stricterLimit(call, { effect: 'read', place: 'set functions' })
      const within = call.as({ limit })
      return sortBy(elements, orderings, (element, { key }) =>
        key === undefined ? element : within.apply(key, element),
      )
    },
  }),
])
