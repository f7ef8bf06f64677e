// Converts lambdas in a query to lambda values, which do not depend on the query. The body of a lambda value is wire
// JSON (the JSON of requests) in canonical form. In the body, a `let` binds captured variables to literals. The body
// contains references to schema objects instead of their names. So a lambda value stays valid when a schema object is
// renamed.

import { step } from '../base/effort.ts'
import { Lambda, nativeOfKind, Transient, UnresolvedRef, type Value } from '../values/value.ts'
import type { Expression, LambdaExpression, Operand } from './expression.ts'
import { requireExtent } from './value-limits.ts'
import { SetValue } from './values/transient.ts'
import { lookUp, type Variables } from './variables.ts'

const closeLambdaLimits = {
  /** Maximum number of values and characters, together, in a value that a lambda captures; own limit. */
  capturedUnitsMax: 8_388_608,
} as const

type ValueOfLiteral = (literal: Extract<Expression, { readonly kind: 'reference' | 'set' }>) => Value

/** Binds the captured variables to their current values. */
export function closeLambda(
  lambda: LambdaExpression,
  variables: Variables | undefined,
  literalValue: ValueOfLiteral,
): Lambda {
  const body = printExpression(lambda.body, literalValue)
  if (lambda.freeVariables.size === 0) return new Lambda(lambda.apiVersion, lambda.parameters, body)
  const captured = new Map<string, Value>()
  for (const name of lambda.freeVariables) {
    const value = requireExtent(lookUp(variables, name), closeLambdaLimits.capturedUnitsMax)
    captured.set(name, printValue(value))
  }
  const closed = new Map<string, Value>([
    ['let', escapeKeys(captured)],
    ['in', body],
  ])
  return new Lambda(lambda.apiVersion, lambda.parameters, closed)
}

function printExpression(expression: Expression, literalValue: ValueOfLiteral): Value {
  const print = (inner: Expression) => printExpression(inner, literalValue)
  switch (expression.kind) {
    case 'literal':
      return printValue(expression.value)
    case 'reference':
    case 'set':
      return printValue(literalValue(expression))
    case 'query':
      return new Map([['@query', printLambda(expression.lambda, literalValue, true)]])
    case 'variable':
      return new Map([['var', expression.name]])
    case 'array':
      return expression.elements.map(print)
    case 'object':
      return new Map([
        ['object', escapeKeys(new Map(expression.fields.map(([name, value]) => [name, print(value)])))],
      ])
    case 'let':
      return new Map<string, Value>([
        ['let', printBindings(expression.bindings.map(([name, value]) => [name, print(value)]))],
        ['in', print(expression.body)],
      ])
    case 'call': {
      const printed = new Map<string, Value>()
      for (const [index, key] of expression.definition.keys.entries()) {
        const operand = expression.operands[index]
        if (operand) printed.set(key, printOperand(operand, literalValue))
      }
      return printed
    }
  }
}

/** Returns an object, or a list with an object for each binding if a name is bound twice. */
function printBindings(bindings: readonly (readonly [string, Value])[]): Value {
  const fields = new Map(bindings)
  if (fields.size === bindings.length) return escapeKeys(fields)
  return bindings.map(binding => new Map([binding]))
}

function printOperand(operand: Operand, literalValue: ValueOfLiteral): Value {
  if (operand.kind === 'lambda') return printLambda(operand, literalValue, false)
  if (operand.kind === 'list') return operand.elements.map(element => printExpression(element, literalValue))
  return printExpression(operand, literalValue)
}

function printLambda(lambda: LambdaExpression, literalValue: ValueOfLiteral, versioned: boolean): Value {
  const printed = new Map<string, Value>()
  if (versioned) printed.set('api_version', lambda.apiVersion)
  printed.set('lambda', lambda.parameters)
  printed.set('expr', printExpression(lambda.body, literalValue))
  return printed
}

/** Returns the wire JSON of an expression that evaluates to `value`. */
function printValue(value: Value): Value {
  step()
  if (value instanceof Map) return printObject(value)
  if (Array.isArray(value)) return value.map(printValue)
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value
  if (value instanceof UnresolvedRef) return unresolvedAsJson(value)
  return value instanceof Transient && !(value instanceof SetValue) ? printValue(value.storedForm()) : value
}

function printObject(fields: ReadonlyMap<string, Value>): Value {
  return new Map([
    ['object', escapeKeys(new Map([...fields].map(([name, value]) => [name, printValue(value)])))],
  ])
}

/** Wraps an object in `@obj` if a key starts with `@`. Without `@obj`, the key would be parsed as a tag. */
function escapeKeys(fields: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> {
  const tagged = [...fields.keys()].some(name => name.startsWith('@'))
  return tagged ? new Map([['@obj', fields]]) : fields
}

function unresolvedAsJson(ref: UnresolvedRef): Value {
  return new Map([['@ref', unresolvedFields(ref)]])
}

const nativeOf = { ...nativeOfKind, key: 'keys' } as const

function unresolvedFields({ target }: UnresolvedRef): ReadonlyMap<string, Value> {
  const nested = (ref: Value): Value => (ref instanceof UnresolvedRef ? unresolvedAsJson(ref) : ref)
  switch (target.type) {
    case 'native':
      return new Map<string, Value>([
        ['id', target.name],
        ['database', nested(target.scope)],
      ])
    case 'document':
      return new Map<string, Value>([
        ['id', String(target.id)],
        ['collection', nested(target.collection)],
      ])
    default: {
      const id = target.type === 'key' ? String(target.id) : target.name
      const collection = new Map([['@ref', new Map([['id', nativeOf[target.type]]])]])
      const fields = new Map<string, Value>([
        ['id', id],
        ['collection', collection],
      ])
      return target.scope ? fields.set('database', nested(target.scope)) : fields
    }
  }
}
