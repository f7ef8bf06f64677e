// Parsing of schema files: their items, positions and faults.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isInterruption, withWatch } from '../../../../../src/base/effort.ts'
import { parseFsl } from '../../../../../src/fql10/schema/fsl/parse-file.ts'
import type { CollectionItem } from '../../../../../src/fql10/schema/fsl/schema-items.ts'
import { Source } from '../../../../../src/fql10/syntax/source.ts'

/** The faults of a text: each message with the text that it underlines. */
function faultsOf(text: string): readonly string[] {
  return parseFsl(new Source('main.fsl', text)).faults.map(({ message, remarks = [], span }) => {
    const marked = span === undefined ? '' : text.slice(span.start, span.end)
    const hints = remarks.map(each => ` | ${each.message}`)
    return `${message} @ ${marked}${hints.join('')}`
  })
}

function itemsOf(text: string) {
  const { faults, items } = parseFsl(new Source('main.fsl', text))
  assert.deepEqual(faults, [])
  return items
}

test('items of all kinds may be separated by newlines, semicolons and comments', () => {
  const items = itemsOf(`// first
    @alias(Rack) @role("x")
    function f(a: Int, ...b: String): Int { a } ; collection "two words" { } /* and */ role keeper {
      privileges f { call }
      membership Token { predicate (.a) }
    }
    access provider Gate { issuer "i"; jwks_uri 'j'
      role keeper }`)
  assert.deepEqual(
    items.map(({ kind, name }) => [kind, name.text]),
    [
      ['function', 'f'],
      ['collection', 'two words'],
      ['role', 'keeper'],
      ['access provider', 'Gate'],
    ],
  )
})

test('the members of a collection are returned in order', () => {
  const [item] = itemsOf(`collection C {
    role: Int = 3; index: { a: String, *: Any }?
    compute c: Int = doc => 1
    *: Any
    index byA { terms [.a, mva(.b["x y"][0])]
      values [desc(mva(.c)), asc(.d)] }
    unique [.a]
    check ok (.a > 1)
    history_days 0x10
    ttl_days -3
    document_ttls true
    migrations { add .a; backfill .a = 1
      split .a -> .b, .c.d
      add_wildcard }
  }`)
  const { members } = item as CollectionItem
  assert.deepEqual(
    members.map(({ kind }) => kind),
    'field field computed wildcard index unique check history_days ttl_days document_ttls migrations'.split(
      ' ',
    ),
  )
  const index = members.find(({ kind }) => kind === 'index')
  assert.ok(index?.kind === 'index')
  assert.deepEqual(
    index.members.map(({ paths }) => paths.map(({ mva, order, path }) => [mva, order, ...path])),
    [
      [
        [false, 'asc', 'a'],
        [true, 'asc', 'b', 'x y', 0n],
      ],
      [
        [true, 'desc', 'c'],
        [false, 'asc', 'd'],
      ],
    ],
  )
})

test('a comment belongs to the item that begins at its end', () => {
  const commentOf = (text: string) => {
    const item = itemsOf(text).at(-1)
    return text.slice(item?.commentStart, item?.start)
  }
  assert.equal(commentOf('// a\n// b\ncollection C {}'), '// a\n// b\n')
  assert.equal(commentOf('// a\n\n// b\n@alias(x)\ncollection C {}'), '// b\n')
  assert.equal(commentOf('/* a */collection C {}'), '/* a */')
  assert.equal(commentOf('/* a */\ncollection C {}'), '/* a */\n')
  assert.equal(commentOf('// a\n\ncollection C {}'), '')
  assert.equal(commentOf('// a\n  collection C {}'), '')
  assert.equal(commentOf('/* a */ collection C {}'), '')
})

test('a syntax error is the only fault of a file', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['2', 'Expected end-of-input @ 2'],
    ['collection #', 'Expected end-of-input or identifier @ #'],
    ['function ()', 'Expected name @ ('],
    ['access x', 'Expected provider @ x'],
    ['access provider X ', 'Expected expression @ '],
    ['function f {}', 'Expected `(` @ {'],
    ['function f(a b)', 'Expected `)`, `,`, or a type annotation @ b'],
    ['function f(a: X\n ...b: X)', 'Expected `)` @ .'],
    ['function f(...a, b) {a}', 'Variadic argument must be the last argument. @ ...a'],
    ['function f() {}', 'Unexpected end of block. Expected statement or expression @ }'],
    ['collection A {} collection B {}', 'Expected end-of-input @ c'],
    ['collection A {}}', 'Expected end-of-input @ }'],
    ['collection A { terms [.] }', 'Expected `]` or expression @ ]'],
    ['collection A { unique [.a,] }', 'Expected expression @ ]'],
    ['collection A { history_days true }', 'Invalid identifier @ true'],
    ['collection A { a: { b: Int,, } }', 'Expected `}` @ ,'],
    ['collection A { compute a = .b }', 'Invalid anonymous field access @ .b'],
    ['collection A { migrations { backfill .a } }', 'Expected `=` @ }'],
    ['collection A { migrations { backfill .a = } }', 'Expected expression @ }'],
    ['collection A { migrations { split .a } }', 'Expected `->` @ }'],
    ['collection A { migrations { move .a -> } }', 'Expected expression @ }'],
    ['collection A { migrations { drop } }', 'Expected expression @ }'],
  ]
  for (const [text, fault] of cases) assert.deepEqual(faultsOf(text), [fault], text)
})

test('a file without syntax errors reports all its faults', () => {
  const text = `foo bar
@role(x) collection A { a = 1; b: Int; b: Int; 'c d': Int; ts: Int; foo
  check a b => b; index { terms 3 }; unique [foo(.a), .b()]; *: Any = 1
  history_days 1 + 2; history_days 3; migrations { a: Int; foo; split .x -> .y, .y; drop .a[0] } }
function f(a: Int, b) { a }
@alias(f) role R { privileges { x }; membership A {} }
access provider P { issuer "#{1}"; role R; role R }`
  assert.deepEqual(faultsOf(text), [
    'Invalid schema item `foo` @ foo',
    'Annotation not supported here @ @role(x)',
    'Expected a type signature @ a = 1',
    'Duplicate field `b` @ b | Originally defined here',
    "Invalid identifier `c d` @ 'c d'",
    'Invalid reserved name `ts` @ ts: Int',
    'Invalid field or member `foo` @ foo',
    'Expected lambda check predicate @ b => b',
    'Missing required name @ index',
    "Expected 'mva' @ foo",
    'Invalid field path @ .b()',
    'No default allowed for wildcard field @ 1',
    'Expected integer literal @ 2',
    'Duplicate history days @ history_days 3 | Originally defined here',
    'Only migrations are allowed in migration blocks @ a: Int',
    'Expected a migration @ foo',
    'Expected list of fields with no duplicates @ .y, .y',
    'Cannot index into an item in a migration path @ 0',
    'All or no arguments must have a type @ b | Expecting types due to this type annotation',
    'Return type is required when arguments have a type @ ) | Expecting types due to this type annotation',
    'Annotations are not allowed here @ @alias(f)',
    'Missing required name @ privileges',
    'Expected a single predicate member @ {}',
    'Cannot interpolate values in a string literal @ 1',
    'Duplicate role `R` @ R | Originally defined here',
    'Missing jwks uri @ { issuer "#{1}"; role R; role R }',
  ])
})

test('an item reports only its first fault', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['collection', 'Missing required name @ collection'],
    ['@role(x) collection 3', 'Missing required name @ collection'],
    ['role 3', 'Missing required name @ role'],
    ['collection A { index 3 }', 'Missing required name @ index'],
    ['collection A { index "a b" 3 }', 'Invalid identifier `a b` @ "a b"'],
    ['collection A { check }', 'Missing required name @ check'],
    ['role A { privileges 3 }', 'Missing required name @ privileges'],
    ['role A { membership 3 }', 'Missing required name @ membership'],
    ['access provider A { issuer "a"; jwks_uri "b"; role 3 }', 'Missing required name @ role'],
    ['function f(a, b: Int) { 2... }', 'Expected a function definition @ (a, b: Int) { 2... }'],
  ]
  for (const [text, fault] of cases) assert.deepEqual(faultsOf(text), [fault], text)
})

test('a value of the wrong kind is reported with the expected kind', () => {
  const values = ['[.a]', '{}', '{ x + 1 }', 'null', 'x', '1.5']
  const places: readonly (readonly [string, string])[] = [
    ['collection A { document_ttls VALUE }', 'Expected boolean literal'],
    ['access provider A { jwks_uri "b"; issuer VALUE }', 'Expected string literal'],
    ['access provider A { issuer "b"; jwks_uri VALUE }', 'Expected string literal'],
  ]
  for (const [text, message] of places) {
    for (const value of values)
      assert.deepEqual(faultsOf(text.replace('VALUE', value)), [`${message} @ ${value}`])
  }
  for (const value of ['[.a]', '{}', '{ x + 1 }', '1.5', '(3)']) {
    for (const keyword of ['ttl_days', 'history_days']) {
      const text = `collection A { ${keyword} ${value} }`
      assert.deepEqual(faultsOf(text), [`Expected integer literal @ ${value}`])
    }
    assert.equal(faultsOf(`collection A { check a ${value} }`).length, 1)
  }
  const missing = 'access provider A { issuer; jwks_uri "b" }'
  assert.deepEqual(faultsOf(missing), ['Missing required value @ issuer;'])
})

test('an invalid item does not hide the faults of other items', () => {
  const unknown = (...words: readonly string[]) =>
    words.map(word => `Invalid field or member \`${word}\` @ ${word}`)
  assert.deepEqual(faultsOf('collection A { foo ? ; bar ! 3\n baz }'), unknown('foo', 'bar', 'baz'))
  const rubbish = ['foo(', 'foo(]]', 'foo(\n) /* } /* { */ */', 'foo // }\n', 'foo "}"', "foo '\\'}'", 'foo)']
  for (const text of rubbish) assert.deepEqual(faultsOf(`collection A { ${text} }`), unknown('foo'), text)
  for (const text of ['add .a', 'split .a -> .b']) {
    assert.deepEqual(faultsOf(`collection A { ${text} }`), unknown(text.split(' ')[0] ?? ''))
  }
  assert.deepEqual(faultsOf('foo ? {\n}\nfunction f() bar\ncollection 3'), [
    'Invalid schema item `foo` @ foo',
    'Expected a function definition @ () bar',
    'Missing required name @ collection',
  ])
  assert.deepEqual(faultsOf('role A { foo ? ; function f() { 1 }; privileges b { foo ? } }'), [
    'Invalid member `foo` @ foo',
    'Invalid member `function` @ function',
    'Invalid action `foo` @ foo',
  ])
  assert.deepEqual(faultsOf('collection A { foo(]} }'), ['Expected end-of-input @ }'])
})

test('a function with an alias may have the name of a collection', () => {
  assert.deepEqual(faultsOf('collection A {}\n@alias(b) function A() { 1 }'), [])
  assert.deepEqual(faultsOf('@alias(b) collection A {}\nfunction A() { 1 }'), [
    'Duplicate collection or function `A` @ A | Originally defined here',
  ])
})

test('unlimited nesting is a fault, not a crash', () => {
  assert.match(faultsOf(`role a ${'{ role a '.repeat(100_000)}`)[0] ?? '', /^The schema is nested too deeply/)
  assert.match(
    faultsOf(`function f() { ${'['.repeat(100_000)} }`)[0] ?? '',
    /^The query is nested too deeply/,
  )
})

test('parsing many items can be interrupted', () => {
  const text = 'collection A { name: String }\n'.repeat(100)
  const interruption = new Error('enough')
  const watch = {
    check() {
      throw interruption
    },
    beforeLongCall() {},
  }
  assert.throws(() => withWatch(watch, () => itemsOf(text)), isInterruption)
})
