// Type checks of documents of native collections, and of elements with their sources. The conformance cases contain the
// checks of all other kinds of values.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../src/base/micros.ts'
import { types } from '../../../src/fql4/functions/types.ts'
import { ElementWithSources } from '../../../src/fql4/values/transient.ts'
import { DocumentValue, native, Ref, rootDatabase, type Value } from '../../../src/values/value.ts'
import { evaluatePure } from '../../support/evaluate-pure.ts'

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
  const checks = types.definitions.map(({ name }) => name)
  return checks.filter(name => evaluatePure({ [name]: { var: 'given' } }, { given })).sort()
}

for (const [name, collection] of Object.entries(kinds)) {
  test(`${name}: documents of that kind`, () => {
    const document = new DocumentValue(new Ref(rootDatabase, collection, 2000n), micros(1), new Map())
    assert.deepEqual(checksOf(document), ['is_doc', 'is_object', name].sort())
  })
}

test('an element with sources has no type', () => {
  assert.deepEqual(checksOf(new ElementWithSources(1n, [])), [])
})
