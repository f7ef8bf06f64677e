// The types of a schema are cached for all queries. A query that is interrupted while it infers the type of a function
// must not change the types that later queries see.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catchError } from '../../../../src/base/catch-error.ts'
import { withWatch } from '../../../../src/base/effort.ts'
import { programOf } from '../../../../src/fql10/request.ts'
import { parseFsl } from '../../../../src/fql10/schema/fsl/parse-file.ts'
import { ofKind } from '../../../../src/fql10/schema/fsl/schema-items.ts'
import { Source } from '../../../../src/fql10/syntax/source.ts'
import { composeQuery } from '../../../../src/fql10/syntax/template.ts'
import { type CheckedQuery, checkQuery } from '../../../../src/fql10/typing/check-query.ts'
import { functionsByName, SchemaTypes } from '../../../../src/fql10/typing/schema-types.ts'

/** The inference of each function takes hundreds of steps. */
const sum = Array.from({ length: 40 }, (_, n) => `x.m${n}`).join(' + ')
const fields = Array.from({ length: 40 }, (_, n) => `m${n}: ${n}`).join(', ')
const schema = `
collection Book {
  title: String
  compute label = book => shown(book.title)
}
function shown(title) { let x = { ${fields} }; let n = ${sum}; { n: n, title: title } }
function first() { let x = { ${fields} }; let n = ${sum}; { n: n, label: Book.all().first()!.label } }
function both() { { one: first(), other: shown("a") } }`

const query = '[both(), Book.all().first()!.label.n, shown(1).title]'

function typesOfSchema(): SchemaTypes {
  const { faults, items } = parseFsl(new Source('main.fsl', schema))
  assert.deepEqual(faults, [])
  const functions = functionsByName(ofKind(items, 'function'))
  return new SchemaTypes({ collections: ofKind(items, 'collection'), functions, untyped: [] })
}

function checked(types: SchemaTypes): CheckedQuery {
  return checkQuery(programOf(composeQuery(query)), types.environment, new Map(), [])
}

class Interruption extends Error {}

/** Returns whether the check was interrupted, at the call number `at` of the watch. */
function isInterrupted(types: SchemaTypes, at: number): boolean {
  let calls = 0
  const check = () => {
    calls++
    if (calls === at) throw new Interruption()
  }
  const watch = { check, beforeLongCall: check }
  const interrupted = () => {
    checked(types)
    return false
  }
  return catchError(
    Interruption,
    () => withWatch(watch, interrupted),
    () => true,
  )
}

test('after an interrupted inference, a check has the same result', () => {
  const expected = checked(typesOfSchema())
  assert.deepEqual(expected.errors, [])
  let interruptions = 0
  for (let at = 1; ; at++) {
    const types = typesOfSchema()
    if (!isInterrupted(types, at)) break
    interruptions++
    assert.deepEqual(checked(types), expected)
  }
  assert.ok(interruptions > 3)
})
