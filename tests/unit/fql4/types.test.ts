// Type checks: each of a range of values satisfies exactly the checks that name its type.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { micros } from '../../../src/base/micros.ts'
import { types } from '../../../src/fql4/functions/types.ts'
import { Action, ElementWithSources, EventValue, Page, SetValue } from '../../../src/fql4/values/transient.ts'
import {
  DocumentValue,
  Lambda,
  LocalDate,
  native,
  Ref,
  rootDatabase,
  Time,
  TransactionTime,
  UnresolvedRef,
  Uuid,
  type Value,
} from '../../../src/values/value.ts'
import { evaluatePure } from '../../support/evaluate-pure.ts'

const checks = types.definitions.map(({ name }) => name)
const refTo = (collection: number) => new Ref(rootDatabase, collection, 2000n)
const documentOf = (collection: number) => new DocumentValue(refTo(collection), micros(1), new Map())

const satisfied: readonly (readonly [what: string, value: Value, checks: readonly string[]])[] = [
  ['an integer', 1n, ['is_number', 'is_integer']],
  ['a double', 1, ['is_number', 'is_double']],
  ['a boolean', false, ['is_boolean']],
  ['a string', '', ['is_string']],
  ['an action', new Action('add'), ['is_string']],
  ['bytes', new Uint8Array(), ['is_bytes']],
  ['a UUID', new Uuid('5a1a0c5e-3e1a-4a0b-9a3f-0123456789ab'), ['is_uuid']],
  ['a time', new Time(0n, 0), ['is_timestamp']],
  ['a date', new LocalDate(0), ['is_date']],
  ['the time of the transaction in microseconds', TransactionTime.micros, []],
  ['an array', [], ['is_array']],
  ['an object', new Map(), ['is_object']],
  ['a page', new Page([], undefined, undefined), ['is_object']],
  ['an event', new EventValue(micros(1), 'create', undefined, null), ['is_object']],
  ['an element with sources', new ElementWithSources(1n, []), []],
  ['a lambda', new Lambda('4', 'x', 1n), ['is_lambda']],
  ['a set', new SetValue({ type: 'singleton', ref: refTo(1024) }), ['is_set']],
  ['a reference to nothing', new UnresolvedRef({ type: 'index', name: 'none' }), ['is_ref']],
  [
    'a native collection',
    new Ref(rootDatabase, native.collections, BigInt(native.indexes)),
    ['is_ref', 'is_doc', 'is_set', 'is_collection'],
  ],
  ['a reference to a document', refTo(1024), ['is_ref', 'is_doc']],
  ['a document', documentOf(1024), ['is_object', 'is_doc']],
]

const kinds = {
  is_collection: native.collections,
  is_database: native.databases,
  is_index: native.indexes,
  is_function: native.functions,
  is_role: native.roles,
  is_key: native.keys,
  is_token: native.tokens,
  is_credentials: native.credentials,
}

function checksOf(given: Value): string[] {
  return checks.filter(name => evaluatePure({ [name]: { var: 'given' } }, { given }))
}

describe('type checks', () => {
  for (const [what, value, names] of satisfied) {
    test(`of ${what}`, () => assert.deepEqual(checksOf(value).sort(), [...names].sort()))
  }

  test('of null', () => {
    assert.deepEqual(
      checks.filter(name => evaluatePure({ [name]: null })),
      ['is_null'],
    )
  })

  for (const [name, collection] of Object.entries(kinds)) {
    test(`${name}: references and documents of that kind`, () => {
      assert.deepEqual(checksOf(refTo(collection)).sort(), ['is_doc', 'is_ref', name].sort())
      assert.deepEqual(checksOf(documentOf(collection)).sort(), ['is_doc', 'is_object', name].sort())
    })
  }
})
