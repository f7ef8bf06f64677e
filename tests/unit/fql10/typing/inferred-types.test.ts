// The types that the schema's code gets without a declaration, and the check of default values.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFsl } from '../../../../src/fql10/schema/fsl/parse-file.ts'
import { ofKind } from '../../../../src/fql10/schema/fsl/schema-items.ts'
import { parseQuery } from '../../../../src/fql10/syntax/parse-query.ts'
import { Source } from '../../../../src/fql10/syntax/source.ts'
import { schemeText } from '../../../../src/fql10/typing/print.ts'
import { functionsByName, SchemaTypes } from '../../../../src/fql10/typing/schema-types.ts'
import { namedType } from '../../../../src/fql10/typing/terms.ts'

function typesOf(schema: string) {
  const { faults, items } = parseFsl(new Source('main.fsl', schema))
  assert.deepEqual(faults, [])
  const functions = ofKind(items, 'function')
  const byName = functionsByName(functions)
  const types = new SchemaTypes({ collections: ofKind(items, 'collection'), functions: byName, untyped: [] })
  return functions.map(each => {
    const { errors, scheme } = types.functionType(each)
    return { text: schemeText(scheme), errors: errors.map(({ message }) => String(message)) }
  })
}

const inferred = (text: string) => ({ text, errors: [] })

test('literals and keys do not look like projections, recursion or differences', () => {
  assert.deepEqual(
    typesOf(`
function projection() { "a.{b" }
function recursion() { "known as Ann" }
function difference() { { "x - Null": 1 } }`),
    [inferred('() => "a.{b"'), inferred('() => "known as Ann"'), inferred('() => { "x - Null": 1 }')],
  )
})

test('a projection of an unknown type is an error, and a type that excludes Null is Any', () => {
  const [projection, difference] = typesOf(`
function projection(x) { x { a } }
function difference(x) { x! }`)
  assert.equal(projection?.errors.length, 1)
  assert.deepEqual(difference, inferred('Any'))
})

test('a declared type stays in effect if the check of the body exceeds the budget', () => {
  const doubled = Array.from({ length: 22 }, (_, at) =>
    at === 0 ? 'let f0 = x => [x, x]' : `let f${at} = x => [f${at - 1}(x), f${at - 1}(x)]`,
  )
  const body = `${doubled.join('\n')}\nf21(1)\n1`
  assert.deepEqual(typesOf(`function large(): Int {\n${body}\n}`), [inferred('() => Int')])
})

test('without type checks, only numbers of an unknown kind pass as default values of the type Int', () => {
  const types = new SchemaTypes({ collections: [], functions: new Map(), untyped: [] })
  const countErrors = (text: string) => {
    const source = new Source('main.fsl', text)
    return types.checkDefault(parseQuery(source, []).body, source, namedType('Int'), false).length
  }
  assert.equal(countErrors('1 + 1'), 0)
  assert.equal(countErrors('"one"'), 1)
  assert.equal(countErrors('"Number one"'), 1)
  assert.equal(countErrors('{ Number: 1 }'), 1)
})
