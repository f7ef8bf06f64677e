// Methods of arrays that search for elements, and the access to an element by its position.

import { step } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import type { Call } from '../call.ts'
import { equalElements } from '../comparison.ts'
import type { FunctionValue, Value } from '../value.ts'
import { entriesFor, type LibraryEntry } from './entry.ts'
import { any, callback, int } from './parameters.ts'

const { method } = entriesFor<readonly Value[]>()

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
  index < 0 ? call.noElement(msg`no element found`) : BigInt(index)

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
export function filterAll(elements: Elements, predicate: FunctionValue, call: Call): readonly Value[] {
  return elements.filter(element => {
    step()
    return call.test(predicate, element)
  })
}

export const arraySearchEntries: readonly LibraryEntry[] = [
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
      filterAll(elements, predicate, call)[0] ?? call.noElement(msg`no element found`),
  }),
  method('lastWhere', {
    parameters: { predicate: callback(1, 'pred') },
    type: '<A> (predicate: (A => Boolean | Null)) => A | Null',
    summary: 'Returns the last element for which `predicate` returns true, or null if there is none.',
    example: ['[1, 2, 3].lastWhere(n => n > 1)', '3'],
    run: (elements, { predicate }, call) =>
      filterAll(elements, predicate, call).at(-1) ?? call.noElement(msg`no element found`),
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

/** Throws `index_out_of_bounds`. */
export function elementAt(elements: readonly Value[], index: number, call: Call): Value {
  return elements[within(elements, index, call)] as Value
}
