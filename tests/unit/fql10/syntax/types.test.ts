// Types with several operators: `?` binds tightest, then `&`, `|` and `=>`.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExpressionPrinter } from '../../../../src/fql10/schema/fsl/print-expression.ts'
import { parseSignature } from '../../../../src/fql10/syntax/parse-query.ts'
import { Source } from '../../../../src/fql10/syntax/source.ts'

function printed(text: string): string {
  return new ExpressionPrinter(text).type(parseSignature(new Source('*type*', text)))
}

test('parsing and printing keeps the structure of types', () => {
  for (const text of [
    'A & B | C',
    'A | B & C',
    '(A | B) & C',
    'A & B? | C => D',
    '(A => B) & C',
    '[A]? => B',
  ]) {
    assert.equal(printed(text), text)
  }
  assert.equal(printed('A | (B & C)'), 'A | B & C')
  assert.equal(printed('(A & B) => C | D'), 'A & B => C | D')
  assert.equal(printed('(A, B)? => C'), '[A, B]? => C')
  const { kind } = parseSignature(new Source('*type*', 'A & B | C'))
  assert.equal(kind, 'union')
})
