// The semantic difference of two schemas.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DiffLine } from '../../../../../src/fql10/schema/fsl/diff/drawing.ts'
import { changesOf, semanticDiff, summaryDiff } from '../../../../../src/fql10/schema/fsl/diff/schema-diff.ts'
import { parseFsl } from '../../../../../src/fql10/schema/fsl/parse-file.ts'
import type { SchemaItem } from '../../../../../src/fql10/schema/fsl/schema-items.ts'
import { Source } from '../../../../../src/fql10/syntax/source.ts'

function items(text: string, name = 'main.fsl'): readonly SchemaItem[] {
  const { faults, items: found } = parseFsl(new Source(name, text))
  assert.deepEqual(faults, [])
  return found
}

function lines(before: string, after: string): readonly string[] {
  return semanticDiff(changesOf(items(before), items(after)), undefined).split('\n')
}

test('an item with an unchanged meaning is not a change, whatever its layout', () => {
  const before = `collection A {
    a: { b: Int = 1; *: Any }
    c: "x" | 3
    compute d = ((doc) => { let e: Int = 1; doc.f?.g(1)!.h[0] })
    index i { terms [mva(.a)]; values [desc(.b), asc(.["c d"])] }
    migrations { split .x -> .a, .c }
  }
  role r { privileges A { write { predicate ((a, b, c) => if (a == b) true else false) } } }`
  const after = `role r { privileges A {
    write {
      predicate ((a,b,c) =>
        if (a==b) true else false)
    } } }
  /* moved */ collection A {
    migrations {
      split .x -> .a, .c
    }
    index i {
      values [desc(.b), .['c d']]
      terms [mva(.a)]
    }
    compute d = ((doc) => {
      let e: Int = 1
      doc.f?.g(1)!.h[0]
    })
    c: 'x' | 3
    a: {
      b: Int = 1,
      *: Any
    }
  }`
  assert.deepEqual(lines(before, after), [''])
})

test('a difference within an expression, a type or a statement is a change', () => {
  const pairs = [
    ['collection A { a: Int = (1) }', 'collection A { a: Int = 1 }'],
    ['collection A { a: { b: Int = 1 } }', 'collection A { a: { b: Int = 2 } }'],
    ['collection A { a: Int | String }', 'collection A { a: String | Int }'],
    ['collection A { a: 1 }', 'collection A { a: "1" }'],
    ['collection A { a: Int; migrations { drop .b } }', 'collection A { a: Int; migrations { drop .c } }'],
  ] as const
  for (const [before, after] of pairs) {
    const diff = ['* Modifying collection `A` at main.fsl:1:1:', '  No semantic changes.', '', '']
    assert.deepEqual(lines(before, after), diff, after)
  }
})

test('changes of checks, actions and memberships are described', () => {
  const before = `collection A { check c ((doc) => doc.a) }
role r {
  membership A { predicate (.a) }
  privileges A {
    read { predicate (.a) }
    write { predicate (.a) }
    delete
  }
}`
  const after = before
    .replaceAll('(.a)', '(.b)')
    .replace('write { predicate (.b) }', 'write')
    .replace('doc.a', 'doc.b')
  assert.deepEqual(lines(before, after), [
    '* Modifying collection `A` at main.fsl:1:1:',
    '  * Constraints:',
    '  ~ change check constraint `c` body',
    '',
    '* Modifying role `r` at main.fsl:2:1:',
    '  ~ change privileges on `A`',
    '    ~ change read by modifying its predicate',
    '    ~ change write by removing a predicate',
    '  ~ change membership on `A` by modifying its predicate',
    '',
    '',
  ])
})

test('stating history_days 0 is not a change', () => {
  assert.deepEqual(lines('collection A { history_days 0 }', 'collection A {}'), [''])
  assert.deepEqual(lines('collection A {}', 'collection A { history_days 0 }'), [''])
  const diff = lines('collection A { history_days 3 }', 'collection A { history_days 0 }')
  assert.deepEqual(diff.slice(2), ['  ~ change history_days from 3 to 0', '', ''])
})

test('an item that moves to another file is shown with both positions', () => {
  const changes = changesOf(items('function f() { 1 }'), items('\n  function f() { 2 }', 'b.fsl'))
  const diff = '* Modifying function `f` at b.fsl:2:3 (previously defined at main.fsl:1:1)\n'
  assert.equal(summaryDiff(changes, undefined), diff)
})

test('renames are shown under the old name', () => {
  const before = items('collection A { a: Int }\nfunction f() { 1 }')
  const after = items('collection B { a: Int }\nfunction g() { 1 }')
  const renamed = new Map([
    ['collection A', 'collection B'],
    ['function f', 'function g'],
  ])
  const diff = [
    '* Modifying collection `A` at main.fsl:1:1:',
    '  * Configuration:',
    '  ~ rename to `B`',
    '',
    '* Modifying function `f` at main.fsl:2:1:',
    '  ~ rename to `g`',
    '',
    '',
  ]
  assert.deepEqual(semanticDiff(changesOf(before, after, { renamed }), undefined).split('\n'), diff)
})

test('effects of migrations come first; colors enclose lines without their indentation', () => {
  const fieldLines = (): readonly DiffLine[] => [{ tone: 'changed', text: '~ move field `.a` to field `.b`' }]
  const before = items('collection A { a: Int }')
  const after = items('@alias(X) collection A { b: Int }')
  const diff = semanticDiff(changesOf(before, after, { fieldLines }), 'ansi').split('\n')
  assert.deepEqual(diff, [
    '\u001b[1;34m* Modifying collection `A` at main.fsl:1:1:\u001b[0m',
    '  \u001b[1;34m* Defined fields:\u001b[0m',
    '  \u001b[33m~ move field `.a` to field `.b`\u001b[0m',
    '',
    '  \u001b[1;34m* Configuration:\u001b[0m',
    '  \u001b[32m+ add alias set to X\u001b[0m',
    '',
    '',
  ])
})
