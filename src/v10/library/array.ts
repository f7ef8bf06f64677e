// Arrays. Callbacks run at the call, element by element.

import { step } from '../../base/effort.ts'
import type { Call } from '../call.ts'
import { Distinct } from '../distinct.ts'
import { joined, requireExtent } from '../extent.ts'
import { ArraySet } from '../sets/sources.ts'
import { debugText } from '../text-of-value.ts'
import { type FunctionValue, isArray, isNull, type Value } from '../value.ts'
import { arrayOrderEntries } from './array-order.ts'
import { arraySearchEntries, within } from './array-search.ts'
import { combine } from './combine.ts'
import { entriesFor, type Members, members } from './definition.ts'
import { any, array, callback, int } from './parameters.ts'

const { field, method } = entriesFor<readonly Value[]>()

function first(elements: readonly Value[], call: Call): Value {
  return elements.length === 0 ? call.nothing('empty array') : (elements[0] as Value)
}

function last(elements: readonly Value[], call: Call): Value {
  return elements.length === 0 ? call.nothing('empty array') : (elements.at(-1) as Value)
}

function fold(elements: readonly Value[], seed: Value, reducer: FunctionValue, call: Call): Value {
  let result = seed
  for (const element of elements) {
    step()
    result = call.apply(reducer, result, element)
  }
  return result
}

/** An element that has to be an array. */
function inner(element: Value, call: Call): readonly Value[] {
  if (!isArray(element)) throw call.mismatch('Array<Any>', element)
  step(element.length)
  return element
}

/** The elements between two positions; those outside are moved to the ends. */
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
  method('first', {
    result: 'Any | Null',
    summary: 'The first element, null for an empty array.',
    example: ['["a", "b"].first()', '"a"'],
    run: (elements, _, call) => first(elements, call),
  }),
  method('last', {
    result: 'Any | Null',
    summary: 'The last element, null for an empty array.',
    example: ['["a", "b"].last()', '"b"'],
    run: (elements, _, call) => last(elements, call),
  }),
  method('isEmpty', {
    result: 'Boolean',
    summary: 'Whether there is no element.',
    example: ['[].isEmpty()', 'true'],
    run: elements => elements.length === 0,
  }),
  method('nonEmpty', {
    result: 'Boolean',
    summary: 'Whether there is an element.',
    example: ['[].nonEmpty()', 'false'],
    run: elements => elements.length > 0,
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
  method('toString', {
    result: 'String',
    summary: 'The array as text.',
    example: ['[1, "a"].toString()', '"[1, \\"a\\"]"'],
    run: (elements, _, call) => debugText(elements, call),
  }),
]

const parts = [
  method('append', {
    parameters: { element: any },
    result: 'Array<Any>',
    summary: 'This array with one more element at its end.',
    example: ['[1].append(2)', '[\n  1,\n  2\n]'],
    run: (elements, { element }, call) => joined(elements, [element], call),
  }),
  method('prepend', {
    parameters: { element: any },
    result: 'Array<Any>',
    summary: 'This array with one more element at its front.',
    example: ['[2].prepend(1)', '[\n  1,\n  2\n]'],
    run: (elements, { element }, call) => joined([element], elements, call),
  }),
  method('concat', {
    parameters: { other: array },
    result: 'Array<Any>',
    summary: 'This array with the elements of another one behind its own.',
    example: ['[1].concat([2])', '[\n  1,\n  2\n]'],
    run: (elements, { other }, call) => joined(elements, other, call),
  }),
  method('take', {
    parameters: { limit: int },
    result: 'Array<Any>',
    summary: 'The first elements, at most so many.',
    example: ['[1, 2, 3].take(2)', '[\n  1,\n  2\n]'],
    run: (elements, { limit }) => slice(elements, 0, limit),
  }),
  method('drop', {
    parameters: { amount: int },
    result: 'Array<Any>',
    summary: 'The elements without the first ones, so many.',
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
    summary: 'The elements without those that are there before.',
    example: ['[1, 2, 1].distinct()', '[\n  1,\n  2\n]'],
    run: elements => {
      const distinct = new Distinct()
      return elements.filter(element => distinct.add(element))
    },
  }),
  method('flatten', {
    result: 'Array<Any>',
    summary: 'The elements of the arrays that are the elements.',
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
    summary: 'What a function gives for each element.',
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
    summary: 'The elements of the arrays that a function gives for each element.',
    example: ['[1, 2].flatMap(n => [n, n])', '[\n  1,\n  1,\n  2,\n  2\n]'],
    run: (elements, { mapper }, call) =>
      requireExtent(
        elements.flatMap(element => inner(call.apply(mapper, element), call)),
        call,
      ),
  }),
  method('forEach', {
    parameters: { callback: callback(1, 'fn') },
    result: 'Null',
    summary: 'Calls a function with each element.',
    example: ['[1, 2].forEach(n => log(n))', 'null'],
    run: (elements, args, call) => {
      for (const element of elements) {
        step()
        call.apply(args.callback, element)
      }
      return call.done()
    },
  }),
  method('where', {
    parameters: { predicate: callback(1, 'pred') },
    result: 'Array<Any>',
    summary: 'The elements for which a predicate holds.',
    example: ['[1, 2].where(n => n > 1)', '[\n  2\n]'],
    run: (elements, { predicate }, call) =>
      elements.filter(element => {
        step()
        return call.holds(predicate, element)
      }),
  }),
  method('filter', {
    parameters: { predicate: callback(1) },
    result: 'Array<Any>',
    summary: 'The elements for which a predicate holds.',
    example: ['[1, 2].filter(n => n > 1)', '[\n  2\n]'],
    run: (elements, { predicate }, call) =>
      elements.filter(element => {
        step()
        const result = call.apply(predicate, element)
        if (typeof result === 'boolean') return result
        if (isNull(result)) return false
        // The message names the type of the element, not that of the result: so has the original.
        throw call.mismatch('Boolean', element)
      }),
  }),
]

const folding = [
  method('fold', {
    parameters: { seed: any, reducer: callback(2) },
    result: 'Any',
    summary: 'Combines a value with each element, from the front.',
    example: ['[1, 2].fold(10, (sum, n) => sum + n)', '13'],
    run: (elements, { seed, reducer }, call) => fold(elements, seed, reducer, call),
  }),
  method('foldRight', {
    parameters: { seed: any, reducer: callback(2) },
    result: 'Any',
    summary: 'Combines a value with each element, from the end.',
    example: ['["a", "b"].foldRight("", (text, s) => text + s)', '"ba"'],
    run: (elements, { seed, reducer }, call) => fold(elements.toReversed(), seed, reducer, call),
  }),
  method('reduce', {
    parameters: { reducer: callback(2) },
    result: 'Any | Null',
    summary: 'Combines the first element with each one behind it; null for an empty array.',
    example: ['[1, 2, 3].reduce((sum, n) => sum + n)', '6'],
    run: (elements, { reducer }, call) => fold(elements.slice(1), first(elements, call), reducer, call),
  }),
  method('reduceRight', {
    parameters: { reducer: callback(2) },
    result: 'Any | Null',
    summary: 'Combines the last element with each one before it; null for an empty array.',
    example: ['["a", "b"].reduceRight((text, s) => text + s)', '"ba"'],
    run: (elements, { reducer }, call) =>
      fold(elements.slice(0, -1).reverse(), last(elements, call), reducer, call),
  }),
  method('aggregate', {
    parameters: { seed: any, combiner: callback(2) },
    result: 'Any',
    summary: 'Combines all elements with each other in any order, and a value at last.',
    example: ['[1, 2, 3].aggregate(0, (a, b) => a + b)', '6'],
    run: (elements, { seed, combiner }, call) => combine(elements, seed, combiner, call),
  }),
]

/** The element at a position. Throws `index_out_of_bounds`. */
export function elementAt(elements: readonly Value[], index: number, call: Call): Value {
  return elements[within(elements, index, call)] as Value
}

/** The table of arrays; what makes sets of them is in the table of sets. */
export const arrayMembers: Members = members('Array', [
  ...access,
  ...parts,
  ...mapping,
  ...folding,
  ...arraySearchEntries,
  ...arrayOrderEntries,
])
