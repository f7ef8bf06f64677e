// The number and size of the errors in one response are limited: a short query can fail in very many places, each of
// which has a long position or repeats a long text.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '../../../src/base/limits.ts'
import { queryErrorBody } from '../../../src/fql4/bodies.ts'
import { parse } from '../../../src/fql4/language.ts'
import { errorsLimits, QueryError } from '../../../src/fql4/query-errors.ts'
import { parseJson } from '../../../src/values/json.ts'
import { UnresolvedRef, type Value } from '../../../src/values/value.ts'
import { evaluatePure, type PureOptions } from '../../support/evaluate-pure.ts'

const many = 20_000
const given = { var: 'given' }
const nested = (depth: number, inner: string) => '['.repeat(depth) + inner + ']'.repeat(depth)
const times = (count: number, part: string) => Array(count).fill(part).join(',')

function errorsOf(work: () => unknown): QueryError['errors'] {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof QueryError, String(error))
    return error.errors
  }
  return assert.fail('it did not fail')
}

/** The JSON of a response contains the collected errors and at most one more. */
function assertBounded(errors: QueryError['errors'], longest = 0): void {
  assert.ok(errors.length > 0 && errors.length <= limits.gatheredErrorsMax)
  const body = queryErrorBody(errors)
  const perError = 100
  const most = 8 * errorsLimits.gatheredErrorUnitsMax + perError * limits.gatheredErrorsMax + longest
  assert.ok(body.length < most, `${body.length} characters`)
}

const queries: Readonly<Record<string, string>> = {
  'unbound variables': `[${times(many, '{"var":"a"}')}]`,
  'unbound variables deep inside': nested(900, times(many, '{"var":"a"}')),
  'unbound variables below a long name': `{"let":{"${'n'.repeat(40_000)}":[${times(many, '{"var":"a"}')}]},"in":1}`,
  'invalid bindings': `{"let":[${times(many, '1')}],"in":1}`,
  'bindings below a long name': `{"let":{"${'n'.repeat(40_000)}":{"let":[${times(many, '1')}],"in":1}},"in":1}`,
  'parameters that are not names': `{"query":{"lambda":[${times(many, '1')}],"expr":1}}`,
}

describe('while a query is parsed', () => {
  for (const [name, text] of Object.entries(queries)) {
    test(name, () => assertBounded(errorsOf(() => parse(parseJson(text), '4'))))
  }
})

const numbers: readonly Value[] = Array.from({ length: many }, (_, n) => BigInt(n))
const nowhere = new UnresolvedRef({ type: 'collection', name: 'n'.repeat(1000) })
const longPath = { select: given, from: { object: {} } }

const evaluations: Readonly<Record<string, readonly [query: object, given: Value]>> = {
  'elements of a wrong type': [{ concat: given }, numbers],
  'invalid pairs': [{ to_object: given }, numbers],
  'invalid objects': [{ merge: { object: {} }, with: given }, numbers],
  'references to nothing': [{ max: given }, numbers.map(() => nowhere)],
  'long paths without a value': [Array(many).fill(longPath), Array(5000).fill('step')],
  'elements that fail with long texts': [
    { filter: { lambda: '_', expr: longPath }, collection: Array(many).fill(0) },
    Array(5000).fill('step'),
  ],
}

describe('while a query is evaluated', () => {
  for (const [name, [query, value]] of Object.entries(evaluations)) {
    const options: PureOptions = { given: value }
    const longest = name.includes('long') ? 5000 * 5 : 0
    test(name, () =>
      assertBounded(
        errorsOf(() => evaluatePure(query, options)),
        longest,
      ),
    )
  }
})
