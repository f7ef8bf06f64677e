// Sets written out as `@set`. A literal is built by the function that makes such a set, from parts that are
// literals; what that function refuses makes the literal an invalid expression.

import { assert } from '../base/assert.ts'
import { errorEntry, QueryError } from '../errors.ts'
import { SetValue, type Value } from '../values/value.ts'
import type { FunctionDefinition } from './definition.ts'
import { evaluate } from './evaluate.ts'
import type { Evaluation } from './evaluation.ts'
import type { CallExpression, Operand, SetLiteral, SetPart } from './expression.ts'
import { literalForms } from './functions/sets.ts'
import type { Variables } from './variables.ts'

/** The set a literal describes. Its faults are `invalid expression`. */
export function evaluateSetLiteral(
  literal: SetLiteral,
  variables: Variables | undefined,
  evaluation: Evaluation,
): Value {
  const value = asLiteral(() => evaluate(callOf(literal), variables, evaluation))
  if (value instanceof SetValue) return value
  throw fault('Invalid set.', literal.place.position())
}

function callOf(literal: SetLiteral): CallExpression {
  const { place, parts } = literal
  const definition = formOf(parts)
  const operands = definition.keys.map(key => {
    const part = parts.get(key)
    return part && operandOf(part, literal, key)
  })
  return { kind: 'call', place, definition, operands }
}

/** The parser has accepted only key sets that one of these takes. */
function formOf(parts: SetLiteral['parts']): FunctionDefinition {
  const keys = [...parts.keys()]
  const form = literalForms.find(
    ({ name, keys: known }) => parts.has(name) && keys.every(key => known.includes(key)),
  )
  assert(form, `a set literal has the keys of a set: ${keys.join(', ')}`)
  return form
}

function operandOf(part: SetPart, { place }: SetLiteral, key: string): Operand {
  switch (part.kind) {
    case 'one':
      return part.expression
    case 'many':
      return { kind: 'array', place: place.at(key), elements: part.expressions }
    case 'lambda':
      return part.lambda
  }
}

function asLiteral(build: () => Value): Value {
  try {
    return build()
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    throw new QueryError(error.errors.flatMap(entry => fault(entry.description, entry.position).errors))
  }
}

function fault(description: string, position: readonly (string | number)[]): QueryError {
  return new QueryError([errorEntry('invalid expression', description, position, { rank: 'parse' })])
}
