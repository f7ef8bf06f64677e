// Predicates of roles and access providers: stored lambdas that decide. They run with read-only rights of their
// own, look at the present, and everything that is not exactly true counts as no.

import type { PredicateOutcome } from '../auth/contract.ts'
import { QueryError } from '../errors.ts'
import type { Lambda, Value } from '../values/value.ts'
import { applyStored } from './evaluate.ts'
import type { Evaluation } from './evaluation.ts'

/** Whether `predicate` returns exactly true for `argument`. Its errors are never shown. */
export function runPredicate(evaluation: Evaluation, predicate: Lambda, argument: Value): boolean {
  const outcome = tryPredicate(evaluation, predicate, argument)
  return 'value' in outcome && outcome.value === true
}

/** What `predicate` comes to for `argument`. */
export function tryPredicate(evaluation: Evaluation, predicate: Lambda, argument: Value): PredicateOutcome {
  const apply = () => applyStored(predicate, argument, evaluation, () => [])
  const readOnly = () => evaluation.withEffectLimit('read', 'auth predicates', apply)
  const now = () => evaluation.withValidTime(undefined, readOnly)
  try {
    return { value: evaluation.withAuthority({ kind: 'predicate', database: evaluation.database }, now) }
  } catch (error) {
    if (error instanceof QueryError) return { failure: error }
    throw error
  }
}
