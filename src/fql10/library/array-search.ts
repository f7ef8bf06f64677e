// Searching for elements in arrays.

import { step } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import type { Call } from '../call.ts'
import { equalElements } from '../comparison.ts'
import type { FunctionValue, Value } from '../value.ts'
import { entriesFor, type LibraryEntry } from './entry.ts'
import { any, callback, int } from './parameters.ts'

const { method } = entriesFor<readonly Value[]>()

type Elements = readonly Value[]

/** Requires a position within the array. Throws `index_out_of_bounds`. */
export function within(elements: Elements, index: number, call: Call): number {
  if (index >= 0 && index < elements.length) return index
  throw call.outOfBounds(index, elements.length)
}

const startOf = (elements: Elements, start: number | undefined, call: Call) =>
  start === undefined ? 0 : within(elements, start, call)

const endOf = (elements: Elements, end: number | undefined, call: Call) =>
  end === undefined ? elements.length - 1 : within(elements, end, call)

const found = (index: number, call: Call): Value =>
  index < 0 ? call.nothing(msg`no element found`) : BigInt(index)

/** The first position from `start` on at which a test is true; -1 without one. */
function firstIndex(elements: Elements, start: number, test: (element: Value) => boolean): number {
  for (let index = start; index < elements.length; index++) {
    step()
    if (test(elements[index] as Value)) return index
  }
  return -1
}

/** The last position up to `end` at which a test is true; -1 without one. */
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

/** Tests all elements, even if the caller takes only the first or the last one. */
function filterAll(elements: Elements, predicate: FunctionValue, call: Call): readonly Value[] {
  return elements.filter(element => {
    step()
    return call.test(predicate, element)
  })
}

/** Array methods that search for elements. */
export const arraySearchEntries: readonly LibraryEntry[] = [
  method('indexOf', {
    parameters: { element: any },
    optional: { start: int },
    result: 'Number | Null',
    summary: 'The first position of a value, from a start on; null without one.',
    example: ['["a", "b", "a"].indexOf("a", 1)', '2'],
    run: (elements, { element, start }, call) =>
      found(firstIndex(elements, startOf(elements, start, call), same(element)), call),
  }),
  method('lastIndexOf', {
    parameters: { element: any },
    optional: { end: int },
    result: 'Number | Null',
    summary: 'The last position of a value, up to an end; null without one.',
    example: ['["a", "b", "a"].lastIndexOf("a")', '2'],
    run: (elements, { element, end }, call) =>
      found(lastIndex(elements, endOf(elements, end, call), same(element)), call),
  }),
  method('firstWhere', {
    parameters: { predicate: callback(1, 'pred') },
    result: 'Any | Null',
    summary: 'The first element for which a predicate returns true, null when there is none.',
    example: ['[1, 2, 3].firstWhere(n => n > 1)', '2'],
    run: (elements, { predicate }, call) =>
      filterAll(elements, predicate, call)[0] ?? call.nothing(msg`no element found`),
  }),
  method('lastWhere', {
    parameters: { predicate: callback(1, 'pred') },
    result: 'Any | Null',
    summary: 'The last element for which a predicate returns true, null when there is none.',
    example: ['[1, 2, 3].lastWhere(n => n > 1)', '3'],
    run: (elements, { predicate }, call) =>
      filterAll(elements, predicate, call).at(-1) ?? call.nothing(msg`no element found`),
  }),
  method('indexWhere', {
    parameters: { predicate: callback(1) },
    optional: { start: int },
    result: 'Number | Null',
    summary: 'The first position, from a start on, at which a predicate returns true; null without one.',
    example: ['[1, 2, 3].indexWhere(n => n > 1)', '1'],
    run: (elements, { predicate, start }, call) =>
      found(firstIndex(elements, startOf(elements, start, call), predicateTest(predicate, call)), call),
  }),
  method('lastIndexWhere', {
    parameters: { predicate: callback(1) },
    optional: { end: int },
    result: 'Number | Null',
    summary: 'The last position, up to an end, at which a predicate returns true; null without one.',
    example: ['[1, 2, 3].lastIndexWhere(n => n > 1)', '2'],
    run: (elements, { predicate, end }, call) =>
      found(lastIndex(elements, endOf(elements, end, call), predicateTest(predicate, call)), call),
  }),
]
