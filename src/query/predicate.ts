// Predicates of roles and access providers: stored lambdas that decide. They run with read-only rights of their
// own, look at the present, and everything that is not exactly true counts as no.

import { QueryError } from '../errors.ts'
import type { Lambda, Value } from '../values/value.ts'
import { applyStored } from './evaluate.ts'
import type { Evaluation } from './evaluation.ts'

/** Whether `predicate` answers exactly true for `argument`. Its errors are never shown. */
export function runPredicate(evaluation: Evaluation, predicate: Lambda, argument: Value): boolean {
  const apply = () => applyStored(predicate, argument, evaluation, () => [])
  const readOnly = () => evaluation.withEffectLimit('read', 'auth predicates', apply)
  const now = () => evaluation.withValidTime(undefined, readOnly)
  try {
    return evaluation.withAuthority({ kind: 'predicate', database: evaluation.database }, now) === true
  } catch (error) {
    if (error instanceof QueryError) return false
    throw error
  }
}
