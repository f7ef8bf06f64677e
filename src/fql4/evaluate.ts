// Evaluates expressions synchronously. All reads and writes of a query use the transaction of the session.

import { unreachable } from '../base/assert.ts'
import { catchError } from '../base/catch-error.ts'
import { limits } from '../base/limits.ts'
import { msg } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import type { CallSite } from '../model/auth/access-contract.ts'
import { type Effect, exceeds } from '../model/code-interface.ts'
import { Failure } from '../model/failure.ts'
import type { Session } from '../model/session.ts'
import { isArray, type Lambda, type Value } from '../values/value.ts'
import { closeLambda } from './close-lambda.ts'
import { type ArgumentType, Call, definitionOf, type Lazy } from './definition.ts'
import {
  type BoundLambda,
  type CallExpression,
  type Expression,
  fault,
  type LambdaExpression,
  type Operand,
  type SetLiteral,
} from './expression.ts'
import { queryErrorOf } from './failure-errors.ts'
import { type ErrorEntry, ErrorList, errorEntry, QueryError } from './query-errors.ts'
import { resolveTarget } from './references.ts'
import { compileLambda } from './stored-code.ts'
import { requireExtent } from './value-limits.ts'
import { SetValue } from './values/transient.ts'
import { LetGroup, largeLetBindings, lookUp, Variables } from './variables.ts'

const evaluateLimits = {
  /** Maximum depth of nested calls of lambdas and user functions. */
  callDepthMax: 200,
  /**
   * Maximum depth of nested expressions during evaluation, including the bodies of called lambdas. Protects the native
   * stack; own limit.
   */
  evaluationDepthMax: 3000,
} as const

/**
 * Throws a QueryError for an error of the query, also if calls are nested too deeply, a LanguageError for an error in
 * code of another language, and a RequestError if another limit is exceeded. Throws Pending if the query needs the
 * result of an asynchronous operation. The engine then waits for the result and evaluates the query again.
 */
export function evaluate(expression: Expression, variables: Variables | undefined, session: Session): Value {
  switch (expression.kind) {
    case 'literal':
      return expression.value
    case 'variable':
      return lookUp(variables, expression.name)
    case 'reference':
      return resolveTarget(expression.target, session, expression.place)
  }
  session.depth++
  try {
    if (session.depth > evaluateLimits.evaluationDepthMax) throw stackOverflow(expression.place.position())
    switch (expression.kind) {
      case 'call':
        return evaluateCall(expression, variables, session)
      case 'array':
        return requireExtent(evaluateAll(expression.elements, variables, session))
      case 'object': {
        const { fields } = expression
        const values = evaluateAll(fields.map(fieldExpression), variables, session)
        const object = new Map<string, Value>()
        for (const [index, [name]] of fields.entries()) object.set(name, values[index] as Value)
        return requireExtent(object)
      }
      case 'let': {
        const group = expression.bindings.length < largeLetBindings ? undefined : new LetGroup(variables)
        let frame = variables
        for (const [name, bound] of expression.bindings) {
          frame = new Variables(name, evaluate(bound, frame, session), frame, group)
        }
        return evaluate(expression.body, frame, session)
      }
      case 'query':
        return lambdaValue(expression.lambda, variables, session)
      case 'set':
        return literalSet(expression, () => evaluate(expression.call, variables, session))
      default:
        return unreachable(expression)
    }
  } finally {
    session.depth--
  }
}

export function lambdaValue(
  lambda: LambdaExpression,
  variables: Variables | undefined,
  session: Session,
): Lambda {
  return closeLambda(lambda, variables, literal => evaluate(literal, undefined, session))
}

const fieldExpression = ([, value]: readonly [string, Expression]): Expression => value

/** Evaluates all expressions. Then throws one error with the errors of all of them, up to a maximum number. */
function evaluateAll(
  expressions: readonly Expression[],
  variables: Variables | undefined,
  session: Session,
): Value[] {
  checkWidth(expressions.length)
  const values: Value[] = []
  let errors: ErrorList | undefined
  for (const expression of expressions) {
    try {
      values.push(evaluate(expression, variables, session))
    } catch (error) {
      if (!(error instanceof QueryError)) throw error
      errors ??= new ErrorList()
      errors.add(error.errors)
      if (errors.isFull) break
    }
  }
  errors?.throwIfAny()
  return values
}

/** Throws `bad request` if a query has too many sibling expressions, or if a lambda is applied to too many elements. */
export function checkWidth(width: number): void {
  if (width <= limits.queryWidthMax) return
  const text = msg`Query exceeds max width. Max: ${limits.queryWidthMax}, current: ${width}.`
  throw new RequestError('bad request', text)
}

const effectNames: Record<Effect, string> = { pure: 'an observation', read: 'a read', write: 'a write' }

function evaluateCall(expression: CallExpression, variables: Variables | undefined, session: Session): Value {
  const { operands } = expression
  const definition = definitionOf(expression)
  const call = new Call(session, expression, variables)
  if (exceeds(definition.effect, session.effectLimit)) {
    const effect = effectNames[definition.effect]
    throw call.error(
      'invalid expression',
      msg`Call performs ${effect}, which is not allowed in ${session.effectPlace}.`,
    )
  }
  if (definition.compute > 0) session.compute(definition.compute)
  const { keys, types } = definition
  const args: Record<string, unknown> = {}
  for (let index = 0; index < operands.length; index++) {
    const key = keys[index] as string
    args[key] = passOperand(operands[index], types[index] as ArgumentType<unknown>, key, call)
  }
  const { callSite } = session
  session.callSite = call
  try {
    return definition.evaluate(args, call)
  } catch (error) {
    throw error instanceof Failure ? queryErrorOf(error, call) : error
  } finally {
    session.callSite = callSite
  }
}

function passOperand(
  operand: Operand | undefined,
  type: ArgumentType<unknown>,
  key: string,
  call: Call,
): unknown {
  if (operand === undefined) return undefined
  if (operand.kind === 'list') {
    return operand.elements.map(element => lazyExpression(element, call))
  }
  if (operand.kind === 'lambda') {
    return { lambda: operand, variables: call.variables } satisfies BoundLambda
  }
  if (type.mode === 'lazy') return lazyExpression(operand, call)
  return type.check(evaluate(operand, call.variables, call.session), call, key)
}

function lazyExpression(expression: Expression, { session, variables }: Call): Lazy {
  return { evaluate: () => evaluate(expression, variables, session) }
}

/** The text names the limit of calls, also if expressions are nested too deeply. */
export function stackOverflow(position: ErrorEntry['position']): QueryError {
  const description = msg`Call stack reached the maximum limit of ${evaluateLimits.callDepthMax}.`
  return QueryError.of('stack overflow', description, position)
}

/**
 * `at` is the key of the argument of `call` that contains the lambda. An error about a wrong number of elements in
 * `argument` has the position of the lambda.
 */
export function applyLambda(bound: BoundLambda, argument: Value, call: Call, at?: string): Value {
  const { lambda, variables: outer } = bound
  const variables = bindParameters(lambda.parameters, argument, outer, call, at)
  return enter(lambda.body, variables, call.session, call)
}

/**
 * Applies the body of a user function, a predicate or a lambda of a set. Errors inside the lambda have positions
 * relative to the lambda. A wrong number of arguments is an error at the step `lambda` of the position of `caller`.
 */
export function applyStored(lambda: Lambda, argument: Value, session: Session, caller: CallSite): Value {
  const { body, parameters } = compileLambda(lambda)
  return enter(body, bindParameters(parameters, argument, undefined, caller), session, caller)
}

/** If calls are nested too deeply, the error has the position of `caller`. */
function enter(
  body: Expression,
  variables: Variables | undefined,
  session: Session,
  caller: CallSite,
): Value {
  if (session.callDepth >= evaluateLimits.callDepthMax) throw stackOverflow(caller.position())
  session.compute(1)
  session.callDepth++
  try {
    return evaluate(body, variables, session)
  } finally {
    session.callDepth--
  }
}

/**
 * A parameter that is not in a list gets the whole argument. A list of parameters requires an array of the same length.
 * A list with a single parameter also accepts a value that is not an array.
 */
function bindParameters(
  parameters: LambdaExpression['parameters'],
  argument: Value,
  outer: Variables | undefined,
  caller: CallSite,
  at?: string,
): Variables | undefined {
  if (typeof parameters === 'string') return bind(parameters, argument, outer)
  if (parameters.length === 1 && !isArray(argument)) return bind(parameters[0] as string, argument, outer)
  const elements = isArray(argument) ? argument : [argument]
  if (elements.length !== parameters.length) {
    const description = msg`Lambda expects an array with ${parameters.length} elements. Array contains ${elements.length}.`
    const position = [...caller.position(), ...(at === undefined ? [] : [at]), 'lambda']
    throw QueryError.of('invalid argument', description, position)
  }
  let variables = outer
  for (let index = 0; index < parameters.length; index++)
    variables = bind(parameters[index] as string, elements[index] as Value, variables)
  return variables
}

function bind(name: string, value: Value, outer: Variables | undefined): Variables | undefined {
  return name === '_' ? outer : new Variables(name, value, outer)
}

/** `build` evaluates the call that creates the set. Errors of this call become `invalid expression`. */
function literalSet({ place }: SetLiteral, build: () => Value): SetValue {
  const value = catchError(QueryError, build, ({ errors }) => {
    const rank = { rank: 'parse' } as const
    throw new QueryError(
      errors.map(each => errorEntry('invalid expression', each.template, each.position, rank)),
    )
  })
  if (value instanceof SetValue) return value
  throw fault(msg`Invalid set.`, place)
}
