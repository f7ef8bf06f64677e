// Numbers: all widths have the same methods, and they are few.

import { displayText } from '../text-of-value.ts'
import type { NumberValue } from '../value.ts'
import { entriesFor, type Members, members } from './definition.ts'

const { method } = entriesFor<NumberValue>()

/** The table of Ints, Longs and Doubles. */
export const numberMembers: Members = members('Number', [
  method('toString', {
    result: 'String',
    summary: 'The number as text.',
    example: ['(2.5).toString()', '"2.5"'],
    run: (number, _, call) => displayText(number, call),
  }),
])
