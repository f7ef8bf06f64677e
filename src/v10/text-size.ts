// The limit on texts that queries make.

import { limits } from '../limits.ts'

/** The message about a text of so many UTF-16 units, undefined while it is within the limit. */
export function tooLong(units: number): string | undefined {
  const max = limits.v10TextUnitsMax
  return units > max ? `Value too large: string size ${units} exceeds limit ${max}.` : undefined
}
