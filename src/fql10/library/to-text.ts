// The method `toString` of most types.

import { displayText } from '../text-of-value.ts'
import type { Value } from '../value.ts'
import { entriesFor, type FunctionDefinition } from './entry.ts'

const { method } = entriesFor<Value>()

/** `query` and `result` are the example in the documentation of the method. */
export function toText(
  query: string,
  result: string,
  summary = 'Converts the value to a string.',
): FunctionDefinition {
  return method('toString', {
    type: '() => String',
    summary,
    example: [query, result],
    run: (value, _, call) => displayText(value, call),
  })
}
