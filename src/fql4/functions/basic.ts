// Control and binding: forms that determine what is evaluated, and when.

import { msg } from '../../base/message.ts'
import { microsOfTime } from '../../values/time.ts'
import { type Time, TransactionTime, type Value } from '../../values/value.ts'
import { boolean, lambda, lazy, lazySequence, string, transactionTime } from '../arguments.ts'
import { type Call, define, family, unary } from '../definition.ts'
import { lambdaValue } from '../evaluate.ts'

/** Runs `work` at the time of an optional `ts` argument. */
export function atTime<T>(ts: ReadableTime | undefined, call: Call, work: () => T): T {
  return ts === undefined ? work() : call.session.withValidTime(validTimeOf(ts, call), work)
}

/** The valid time for `at` and `ts` arguments; undefined means now, including the transaction's own writes. */
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
    summary: 'Evaluates one of two expressions, by a condition.',
    example: ['{"if": true, "then": "yes", "else": "no"}', '"yes"'],
    evaluate: args => (args.if ? args.then : args.else).evaluate(),
  }),
  unary('do', lazySequence, {
    compute: 0,
    result: 'Any',
    summary: 'Evaluates expressions one after the other and returns the last.',
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
    summary: 'Evaluates an expression with reads as of another time.',
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
    summary: 'Fails the query with an error and discards its writes.',
    example: ['{"if": false, "then": {"abort": "stop"}, "else": 1}', '1'],
    evaluate(args, call) {
      throw call.error('transaction aborted', msg`${args.abort}`)
    },
  }),
])
