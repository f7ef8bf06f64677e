// Parses stored lambdas, once per lambda value. Stored lambdas may call every function, and some functions apply stored
// lambdas. To avoid a circular import, the registry passes the functions to this module at start.

import type { Lambda } from '../values/value.ts'
import type { FunctionDefinition } from './definition.ts'
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
  return compiled.get(lambda) ?? compileNew(lambda, functions as FunctionLookup)
}

/**
 * Compiles a lambda that a language above this one has built, and that calls functions of its own. Clients cannot call
 * these functions. `own`: the functions by their wire keys, joined with spaces.
 */
export function compileLambdaWith(lambda: Lambda, own: ReadonlyMap<string, FunctionDefinition>): void {
  const others = functions as FunctionLookup
  compileNew(lambda, {
    find(keys, apiVersion) {
      const all = [...keys]
      return own.get(all.join(' ')) ?? others.find(all, apiVersion)
    },
    findSet: (keys, apiVersion) => others.findSet(keys, apiVersion),
  })
}

function compileNew(lambda: Lambda, lookup: FunctionLookup): LambdaExpression {
  const expression = parseStoredLambda(lambda.parameters, lambda.body, lambda.apiVersion, lookup)
  compiled.set(lambda, expression)
  return expression
}
