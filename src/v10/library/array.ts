// Arrays. Callbacks run at the call, element by element.

import { step } from '../../base/effort.ts'
import type { Value } from '../value.ts'
import { entriesFor, type Members, members } from './definition.ts'
import { callback } from './parameters.ts'

const { field, method } = entriesFor<readonly Value[]>()

/** The table of arrays. */
export const arrayMembers: Members = members('Array', [
  field({
    name: 'length',
    result: 'Number',
    summary: 'The number of elements.',
    example: ['[1, 2].length', '2'],
    read: elements => BigInt(elements.length),
  }),
  method({
    name: 'first',
    parameters: {},
    result: 'Any | Null',
    summary: 'The first element, null for an empty array.',
    example: ['["a", "b"].first()', '"a"'],
    run: (elements, _, call) =>
      elements.length === 0 ? call.nothing('empty array') : (elements[0] as Value),
  }),
  method({
    name: 'map',
    parameters: { mapper: callback(1) },
    result: 'Array<Any>',
    summary: 'What a function gives for each element.',
    example: ['[1, 2].map(n => n + 1)', '[\n  2,\n  3\n]'],
    run: (elements, { mapper }, call) =>
      elements.map(element => {
        step()
        return call.apply(mapper, element)
      }),
  }),
])
