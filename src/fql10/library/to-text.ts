// The method `toString` of most types.

import { displayText } from '../text-of-value.ts'
import type { Value } from '../value.ts'
import { entriesFor, type FunctionDefinition } from './entry.ts'

const { method } = entriesFor<Value>()

/** Creates the entry `toString` for the table of a type. `query` and `result` form the example of the entry. */
export function toText(query: string, result: string, summary = 'The value as text.'): FunctionDefinition {
  return method('toString', {
    result: 'String',
    summary,
    example: [query, result],
    run: (value, _, call) => displayText(value, call),
  })
}
