// Version 4 as one object: parsing with all functions registered, and running stored lambdas.

import type { CodeLanguage } from '../model/session.ts'
import type { Json, Lambda, Value } from '../values/value.ts'
import { QueryError } from './errors.ts'
import { applyStored } from './evaluate.ts'
import { registry } from './functions/registry.ts'
import { type ParsedQuery, parseQuery } from './parse.ts'
import { compileLambda } from './stored-code.ts'

/** Whether a lambda that did not come from a query could have. */
export function isExpression(lambda: Lambda): boolean {
  try {
    compileLambda(lambda)
    return true
  } catch (error) {
    if (error instanceof QueryError) return false
    throw error
  }
}

/** Parses a query of a client. Throws `invalid expression`. */
export function parse(json: Json, apiVersion: string): ParsedQuery {
  return parseQuery(json, apiVersion, registry)
}

/** Stored lambdas. Errors of the application itself stand at the call that asks for it. */
export const lambdas: CodeLanguage<'4'> = {
  run({ lambda }, given, session) {
    const argument = 'one' in given ? given.one : argumentOf(lambda.parameters, given.list)
    return applyStored(lambda, argument, session, () => session.asker?.position() ?? [])
  },
  facts({ lambda }) {
    const { parameters } = lambda
    return {
      parameters: typeof parameters === 'string' ? 1 : parameters.length,
      effect: compileLambda(lambda).effect,
    }
  },
}

/** A parameter that is no pattern gets the only argument itself. */
function argumentOf(parameters: string | readonly string[], list: readonly Value[]): Value {
  const [only] = list
  return typeof parameters === 'string' && list.length === 1 && only !== undefined ? only : list
}
