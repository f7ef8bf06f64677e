// Enforces the length limit of texts that a query creates.

import { longCall } from '../base/effort.ts'
import { limits } from '../base/limits.ts'
import { type Message, msg, own } from '../base/message.ts'
import type { Call } from './call.ts'

/** The error for a text of `units` UTF-16 units. Undefined within the limit. */
export function tooLong(units: number): Message | undefined {
  const max = limits.v10TextUnitsMax
  return units > max ? msg`Value too large: string size ${units} exceeds limit ${own(max)}.` : undefined
}

/** Counts the cost of a text before a function creates it, in UTF-16 units. Throws `value_too_large` past the limit. */
export function countText(units: number, call: Call): void {
  const message = tooLong(units)
  if (message !== undefined) throw call.failure('value_too_large', message)
  longCall(units)
}
