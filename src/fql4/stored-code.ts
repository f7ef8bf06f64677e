// Parses stored lambdas, once per lambda value. Stored lambdas may call every function, and some functions apply stored
// lambdas. To avoid a circular import, the registry passes the functions to this module at start.

import type { Lambda } from '../values/value.ts'
import type { LambdaExpression } from './expression.ts'
import { type FunctionLookup, parseStoredLambda } from './parse-query.ts'

const compiled = new WeakMap<Lambda, LambdaExpression>()

let functions: FunctionLookup | undefined

/** Sets the functions that stored lambdas may call. */
export function provideFunctions(lookup: FunctionLookup): void {
  functions = lookup
}

/** Returns the expression of a stored lambda, parsed under the API version of the lambda. */
export function compileLambda(lambda: Lambda): LambdaExpression {
  const known = compiled.get(lambda)
  if (known) return known
  const expression = parseStoredLambda(
    lambda.parameters,
    lambda.body,
    lambda.apiVersion,
    functions as FunctionLookup,
  )
  compiled.set(lambda, expression)
  return expression
}
