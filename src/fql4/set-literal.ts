// Set literals (`@set`). The parser converts a literal to a call of the function that creates such a set. If that
// function fails, the literal is an invalid expression.

import { msg } from '../base/message.ts'
import type { Value } from '../values/value.ts'
import { errorEntry, QueryError } from './errors.ts'
import { fault, type SetLiteral } from './expression.ts'
import { SetValue } from './values/set-value.ts'

/** The set that `build`, the call of a literal, returns. All of its errors become `invalid expression`. */
export function literalSet({ place }: SetLiteral, build: () => Value): SetValue {
  const value = asLiteral(build)
  if (value instanceof SetValue) return value
  throw fault(msg`Invalid set.`, place)
}

function asLiteral(build: () => Value): Value {
  try {
    return build()
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    const rank = { rank: 'parse' } as const
    throw new QueryError(
      error.errors.map(each => errorEntry('invalid expression', each.template, each.position, rank)),
    )
  }
}
