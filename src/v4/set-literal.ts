// Sets written out as `@set`. The parser makes of a literal a call of the function that makes such a set; what that
// function refuses makes the literal an invalid expression.

import type { Value } from '../values/value.ts'
import { errorEntry, QueryError } from './errors.ts'
import { fault, type SetLiteral } from './expression.ts'
import { SetValue } from './values/set-value.ts'

/** The set that `build`, the call of a literal, gives. All faults of its own are `invalid expression`. */
export function literalSet({ place }: SetLiteral, build: () => Value): SetValue {
  const value = asLiteral(build)
  if (value instanceof SetValue) return value
  throw fault('Invalid set.', place)
}

function asLiteral(build: () => Value): Value {
  try {
    return build()
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    const rank = { rank: 'parse' } as const
    throw new QueryError(
      error.errors.map(each => errorEntry('invalid expression', each.description, each.position, rank)),
    )
  }
}
