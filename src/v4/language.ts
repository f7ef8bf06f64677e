// The language as one object: parsing with all functions registered, and stored lambdas parsed once.

import type { Json, Lambda } from '../values/value.ts'
import type { LambdaExpression } from './expression.ts'
import { registry } from './functions/registry.ts'
import { type ParsedQuery, parseQuery, parseStoredLambda } from './parse.ts'

const compiled = new WeakMap<Lambda, LambdaExpression>()

/** The expression of a stored lambda, under the version it was made with. Parsed once per lambda value. */
export function compileLambda(lambda: Lambda): LambdaExpression {
  const known = compiled.get(lambda)
  if (known) return known
  const expression = parseStoredLambda(lambda.parameters, lambda.body, lambda.apiVersion, registry)
  compiled.set(lambda, expression)
  return expression
}

/** Parses a query of a client. Throws `invalid expression`. */
export function parse(json: Json, apiVersion: string): ParsedQuery {
  return parseQuery(json, apiVersion, registry)
}
