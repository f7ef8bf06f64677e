// Sorting of arrays, and the table of the module Array.

import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import type { Module, Value } from '../value.ts'
import { entriesFor, type LibraryEntry, type Members, members } from './entry.ts'
import { orderingsOf, sortBy } from './orderings.ts'
import { any, int } from './parameters.ts'

const { variadic } = entriesFor<readonly Value[]>()
const { method } = entriesFor<Module>()

/** Array methods that sort. */
export const arrayOrderEntries: readonly LibraryEntry[] = [
  variadic('order', {
    rest: ['ordering', any],
    result: 'Array<Any>',
    summary: 'The elements sorted by the results of functions, or by their own values without functions.',
    example: ['[3, 1].order(asc(n => n))', '[\n  1,\n  3\n]'],
    run: (elements, args, call) => {
      const orderings = orderingsOf(args, call)
      // A callback may not write, because the order of elements must not depend on writes during sorting.
      const within = call.as({ limit: { effect: 'read', place: 'set functions' } })
      return sortBy(elements, orderings, (element, { key }) =>
        key === undefined ? element : within.apply(key, element),
      )
    },
  }),
]

/** The table of the module Array. */
export const arrayModule: Members = members('Array', [
  method('sequence', {
    parameters: { from: int, until: int },
    result: 'Array<Number>',
    summary: 'The integers from a start (included) to an end (excluded).',
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
