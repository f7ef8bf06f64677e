// Null, which has one method.

import { entriesFor, type Members, members } from './definition.ts'

const { method } = entriesFor<null>()

/** The table of null. */
export const nullMembers: Members = members('Null', [
  method('toString', {
    result: 'String',
    summary: 'The word null.',
    example: ['null.toString()', '"null"'],
    run: () => 'null',
  }),
])
