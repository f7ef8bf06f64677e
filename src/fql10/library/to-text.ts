// `toString`, as the values of most types have it.

import { displayText } from '../text-of-value.ts'
import type { Value } from '../value.ts'
import { entriesFor, type FunctionDefinition } from './definition.ts'

const { method } = entriesFor<Value>()

/** The entry of a type; its example is a query with its result. */
export function toText(query: string, result: string, summary = 'The value as text.'): FunctionDefinition {
  return method('toString', {
    result: 'String',
    summary,
    example: [query, result],
    run: (value, _, call) => displayText(value, call),
  })
}
