// Functions for control flow, logic, and calls of user functions.

import { assert } from '../../base/assert.ts'
import { msg } from '../../base/message.ts'
import { authorityOfRole } from '../../model/auth/role.ts'
import { Failure, LanguageError } from '../../model/failure.ts'
import { permissionDenied } from '../../model/permissions.ts'
import type { Session } from '../../model/session.ts'
import { codeOf } from '../../values/code.ts'
import { microsOfTime } from '../../values/time.ts'
import { native, Ref, type Time, TransactionTime, type Value } from '../../values/value.ts'
import {
  anyValue,
  boolean,
  lambda,
  lazy,
  lazyList,
  lazySequence,
  nameOrRef,
  nonEmptyList,
  string,
  transactionTime,
} from '../arguments.ts'
import {
  type Call,
  define,
  family,
  type Lazy,
  mismatch,
  optional,
  unary,
  undefinedReference,
} from '../definition.ts'
import { lambdaValue } from '../evaluate.ts'
import { abortText } from '../failure-errors.ts'
import { type ErrorEntry, QueryError } from '../query-errors.ts'
import { resolveName } from '../references.ts'
import { typeName } from '../values/tagged.ts'

/** If `ts` is undefined, the time of reads does not change. */
export function atTime<T>(ts: ReadableTime | undefined, call: Call, work: () => T): T {
  return ts === undefined ? work() : call.session.with({ validTime: validTimeOf(ts, call) }, work)
}

/** Returns microseconds; undefined for the present or the future, whose reads include the transaction's writes. */
function validTimeOf(time: ReadableTime, call: Call): number | undefined {
  if (time instanceof TransactionTime) return undefined
  const at = Number(microsOfTime(time))
  return at >= call.session.transaction.snapshotTime ? undefined : at
}

type ReadableTime = Time | TransactionTime

export const basic = family('Basic', [
  define({
    compute: 0,
    arguments: { if: boolean, then: lazy, else: lazy },
    result: 'Any',
    summary:
      'Evaluates `then` if `if` is true, or `else` if `if` is false, and returns the result. The other expression is not evaluated.',
    example: ['{"if": true, "then": "yes", "else": "no"}', '"yes"'],
    evaluate: args => (args.if ? args.then : args.else).evaluate(),
  }),
  unary('do', lazySequence, {
    compute: 0,
    result: 'Any',
    summary: 'Evaluates expressions in order and returns the result of the last one.',
    example: ['[1, 2]', '2'],
    evaluate(expressions) {
      let last: Value = null
      for (const expression of expressions) last = expression.evaluate()
      return last
    },
  }),
  define({
    compute: 0,
    arguments: { at: transactionTime, expr: lazy },
    result: 'Any',
    summary: 'Evaluates `expr` with all reads as of the time `at`. If this time is in the past, writes fail.',
    example: ['{"at": {"now": null}, "expr": 1}', '1'],
    evaluate: (args, call) => atTime(args.at, call, () => args.expr.evaluate()),
  }),
  unary('query', lambda, {
    result: 'Lambda',
    summary: 'Converts a lambda to a value that functions, roles and indexes can store.',
    example: [
      '{"lambda": "x", "expr": {"var": "x"}}',
      '{"@query": {"api_version": "4", "lambda": "x", "expr": {"var": "x"}}}',
    ],
    evaluate: (bound, call) => lambdaValue(bound.lambda, bound.variables, call.session),
  }),
  define({
    arguments: { abort: string },
    result: 'never',
    summary:
      'Stops the query with an error whose description is `abort`. All writes of the query are discarded.',
    example: ['{"if": false, "then": {"abort": "stop"}, "else": 1}', '1'],
    evaluate(args, call) {
      throw call.error('transaction aborted', msg`${args.abort}`)
    },
  }),
])

/** Stops at the first operand with the value `decisive`, and returns this value, or else its opposite. */
function shortCircuit(operands: readonly Lazy[], decisive: boolean, call: Call, key: string): boolean {
  for (let index = 0; index < operands.length; index++) {
    const value = (operands[index] as Lazy).evaluate()
    if (typeof value !== 'boolean') {
      throw call.invalid(msg`Boolean expected, ${typeName(value)} provided.`, key, index)
    }
    if (value === decisive) return decisive
  }
  return !decisive
}

/** In API versions before 3, all operands are evaluated. */
function connective(name: 'and' | 'or', decisive: boolean, summary: string) {
  const exampleResult = String(decisive)
  return [
    unary(name, lazyList, {
      compute: 0,
      since: '3',
      result: 'Boolean',
      summary: `${summary} Evaluation stops at the first operand that is ${decisive}.`,
      example: [`[${exampleResult}, {"abort": "not reached"}]`, exampleResult],
      evaluate: (operands, call) => shortCircuit(operands, decisive, call, name),
    }),
    unary(name, nonEmptyList(boolean), {
      until: '3',
      result: 'Boolean',
      summary: `${summary} All operands are evaluated.`,
      example: ['[true, false]', exampleResult],
      evaluate: operands => operands.includes(decisive) === decisive,
    }),
  ]
}

/** Values of other types are never converted to booleans. */
export const logic = family('Logic', [
  ...connective('and', false, 'True if all operands are true.'),
  ...connective('or', true, 'True if at least one operand is true.'),
  unary('not', boolean, {
    result: 'Boolean',
    summary: 'Negates a boolean: returns true for false, and false for true.',
    example: ['true', 'false'],
    evaluate: value => !value,
  }),
])

/**
 * A function without a role runs with the rights of the caller. Throws a {@link Failure} if the function does not exist
 * or the caller has no permission to call the function.
 */
function callFunction(ref: Ref, argument: Value, session: Session): Value {
  const { access, transaction } = session
  const stored = transaction.get(ref)
  if (!stored) throw Failure.of({ kind: 'not found', ref }, 'target')
  if (!access.allows({ action: 'call', resource: ref, argument: () => argument })) throw permissionDenied()
  const body = codeOf(stored.fields.get('body'))
  assert(body !== undefined, 'a function has a body')
  const role = stored.fields.get('role')
  if (role === undefined) return session.run(body, { one: argument })
  const authority = authorityOfRole(transaction, ref.database, role)
  return session.withAuthority(authority, () => session.run(body, { one: argument }))
}

export const calls = family('Calls', [
  define({
    staticEffect: 'write',
    compute: 0,
    arguments: { call: nameOrRef, arguments: optional(anyValue) },
    result: 'Any',
    summary:
      'Calls the user function `call` and returns its result. The function runs with the permissions of its role, or with those of the caller if the function has no role.',
    example: ['{"call": "double", "arguments": 21}', '42'],
    evaluate(args, call) {
      const { arguments: given = [], call: target } = args
      const ref = functionOf(target, call)
      return wrappingErrors(call, () => callFunction(ref, given, call.session))
    },
  }),
])

function functionOf(target: string | Ref, call: Call): Ref {
  if (target instanceof Ref) {
    if (target.collection === native.functions) return target
    throw mismatch('Identifier', target, call, 'call')
  }
  const resolved = resolveName('function', target, undefined, call.session)
  if (resolved instanceof Ref) return resolved
  throw undefinedReference(resolved, call, 'call')
}

/** Converts errors of a user function to a `call error` with these errors as its cause, except for a stack overflow. */
function wrappingErrors(call: Call, work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof LanguageError)) throw error
    // The function is written in another language.
    if (!(error instanceof QueryError)) throw call.error('transaction aborted', msg`${abortText(error)}`)
    const cause: readonly ErrorEntry[] = error.errors
    if (cause.length === 1 && cause[0]?.code === 'stack overflow') throw error
    const description = msg`Calling the function resulted in an error.`
    throw QueryError.of('call error', description, call.position(), { cause })
  }
}
