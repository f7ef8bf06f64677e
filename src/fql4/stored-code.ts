// Parses stored lambdas, once per lambda value. Stored lambdas may call every function, and some functions apply stored
// lambdas. To avoid a circular import, the registry passes the functions to this module at start.

import type { Lambda } from '../values/value.ts'
import type { FunctionDefinition } from './definition.ts'
import type { LambdaExpression } from './expression.ts'
import { type FunctionLookup, parseStoredLambda } from './parse-query.ts'

const compiled = new WeakMap<Lambda, LambdaExpression>()

let functions: FunctionLookup | undefined

export function provideFunctions(lookup: FunctionLookup): void {
  functions = lookup
}

/** Parses the lambda under its own API version. */
export function compileLambda(lambda: Lambda): LambdaExpression {
  return compiled.get(lambda) ?? compileNew(lambda, functions as FunctionLookup)
}

/**
 * Compiles a lambda that another language has generated. `own`: functions by wire keys, which only such lambdas call.
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
