// Evaluates queries that need no data, without a store or an engine, in a transaction in which nothing exists: for
// tests that call a function very often, and for values that no query can contain as a literal, such as pages.

import assert from 'node:assert/strict'
import { languages } from '../../src/app/languages.ts'
import { micros } from '../../src/base/micros.ts'
import { Memo } from '../../src/base/pending.ts'
import { evaluate } from '../../src/fql4/evaluate.ts'
import { registry } from '../../src/fql4/functions/registry.ts'
import { parse } from '../../src/fql4/language.ts'
import { parseStoredLambda } from '../../src/fql4/parse-query.ts'
import { type ErrorEntry, QueryError } from '../../src/fql4/query-errors.ts'
import { Variables } from '../../src/fql4/variables.ts'
import type { ApiVersion } from '../../src/fql4/wire/version.ts'
import { Session, type SessionHost } from '../../src/model/session.ts'
import type { Transaction } from '../../src/storage/store/store-contract.ts'
import { parseJson } from '../../src/values/json.ts'
import { type Micros, rootDatabase, type Value } from '../../src/values/value.ts'

/** JSON text if numbers must keep their form. */
export type Query = string | object

export interface PureOptions {
  readonly apiVersion?: ApiVersion
  /** Value of the variable `given` in the query. */
  readonly given?: Value
  /** Time of the query. */
  readonly now?: Micros
  readonly session?: Session
}

/** 2024-02-28T12:00:00Z. */
export const pureNow: Micros = micros(1_709_121_600_000_000)

const nothing = new Error('a pure query must not ask for this')

/** Has no documents and names, and a fixed time. */
export function pureSession(options: PureOptions = {}, memo = new Memo()): Session {
  const transaction = {
    snapshotTime: options.now ?? pureNow,
    counters: { readBytes: 0, writeBytes: 0, writeOps: 0, indexUnits: 0 },
    writable: false,
    catalogue: {
      resolve: () => undefined,
      nameOf: () => undefined,
      derived: (_scope: unknown, _name: string, make: () => unknown) => make(),
      countDerived: () => {},
    },
    get(): never {
      throw nothing
    },
  } as unknown as Transaction
  const host = { languages, now: () => 0 } as unknown as SessionHost
  return new Session({
    host,
    transaction,
    caller: {
      database: rootDatabase,
      authority: { kind: 'builtin', role: 'admin', database: rootDatabase },
      identity: undefined,
      credential: undefined,
    },
    dialect: options.apiVersion ?? '4',
    memo,
    deadline: Number.POSITIVE_INFINITY,
  })
}

/** Errors of the evaluation propagate. */
export function evaluatePure(query: Query, options: PureOptions = {}): Value {
  const json = parseJson(typeof query === 'string' ? query : JSON.stringify(query))
  const session = options.session ?? pureSession(options)
  const version = options.apiVersion ?? '4'
  if (options.given === undefined) return evaluate(parse(json, version).expression, undefined, session)
  const lambda = parseStoredLambda('given', json, version, registry)
  return evaluate(lambda.body, new Variables('given', options.given, undefined), session)
}

/** The query must fail. */
export function errorsOf(
  query: Query,
  options: PureOptions = {},
): Pick<ErrorEntry, 'code' | 'description' | 'position'>[] {
  try {
    evaluatePure(query, options)
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    // With `given` the query is the body of a lambda.
    const skipped = options.given === undefined ? 0 : 1
    return error.errors.map(({ code, description, position }) => ({
      code,
      description,
      position: position.slice(skipped),
    }))
  }
  throw new Error(`no error came from ${typeof query === 'string' ? query : JSON.stringify(query)}`)
}

/** Asserts that the query fails with exactly one error, and compares the error. */
export function assertError(
  query: Query,
  code: string,
  description: string,
  position: ErrorEntry['position'],
  options: PureOptions = {},
): void {
  assert.deepEqual(errorOf(query, options), { code, description, position })
}

/** The query must fail with exactly one error. */
export function errorOf(
  query: Query,
  options: PureOptions = {},
): Pick<ErrorEntry, 'code' | 'description' | 'position'> {
  const [error, ...others] = errorsOf(query, options)
  if (!error || others.length > 0) throw new Error(`${others.length + 1} errors instead of one`)
  return error
}
