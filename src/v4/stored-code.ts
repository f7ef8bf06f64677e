// Stored lambdas, parsed once per value. They may call every function and functions apply them, so the functions are handed
// in by the registry that holds them all.

import type { Lambda } from '../values/value.ts'
import type { LambdaExpression } from './expression.ts'
import { type FunctionLookup, parseStoredLambda } from './parse.ts'

const compiled = new WeakMap<Lambda, LambdaExpression>()

let functions: FunctionLookup | undefined

/** Says which functions stored lambdas may call. */
export function provideFunctions(lookup: FunctionLookup): void {
  functions = lookup
}

/** The expression of a stored lambda, under the version it was made with. */
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
