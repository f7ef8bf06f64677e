// Sets written out as `@set`.

import { errorEntry, QueryError } from '../errors.ts'
import type { Value } from '../values/value.ts'
import type { Evaluation } from './evaluation.ts'
import type { SetLiteral } from './expression.ts'
import type { Variables } from './variables.ts'

/** The set a literal describes. Its faults are `invalid expression`. */
export function evaluateSetLiteral(
  literal: SetLiteral,
  _variables: Variables | undefined,
  _evaluation: Evaluation,
): Value {
  throw new QueryError([
    errorEntry('invalid expression', 'Invalid set.', literal.place.position(), { rank: 'parse' }),
  ])
}
