// Generates texts of schema items, in many spellings: each part with and without comments, parentheses and types. Two
// texts of one kind have the same item name, so the second is a change of the first.

import { fc } from './fast-check.ts'

type Text = fc.Arbitrary<string>

const one = (...texts: readonly string[]): Text => fc.constantFrom(...texts)

/** Puts generated texts in place of `$`. */
function filled(template: string, ...texts: readonly Text[]): Text {
  const pieces = template.split('$')
  return fc
    .tuple(...texts)
    .map(given =>
      pieces.map((piece, index) => (index === 0 ? piece : `${given[index - 1]}${piece}`)).join(''),
    )
}

/** Missing in about half of all cases. */
const maybe = (text: Text): Text => fc.oneof(fc.constant(''), text)

const plainType = one('Int', 'String', 'Boolean', 'Time', 'Any', '"a"', '1', 'Ref<D>', 'Array<Int>')

/** Generates the type of a field. */
const type: Text = fc.oneof(
  { weight: 2, arbitrary: plainType },
  { weight: 1, arbitrary: filled('$ | $', plainType, plainType) },
  { weight: 1, arbitrary: filled('$?', plainType) },
  { weight: 1, arbitrary: filled('($)', plainType) },
  { weight: 1, arbitrary: filled('($ | $)?', plainType, plainType) },
  { weight: 1, arbitrary: filled('($?) | $', plainType, plainType) },
  { weight: 1, arbitrary: filled('$ | ($ | Null)', plainType, plainType) },
  { weight: 1, arbitrary: filled('Array<($)?>', plainType) },
  { weight: 1, arbitrary: filled('{ x: $, "y z": ($)? }', plainType, plainType) },
  { weight: 1, arbitrary: filled('[$, ($ | Int)]', plainType, plainType) },
)

/** The type of a function's parameter or result, or of a computed field. */
const anyType: Text = fc.oneof(
  { weight: 3, arbitrary: type },
  { weight: 1, arbitrary: filled('($) => $', plainType, plainType) },
  { weight: 1, arbitrary: filled('($ => $)', plainType, plainType) },
  { weight: 1, arbitrary: filled('(($ => $) => $)', plainType, plainType, plainType) },
  { weight: 1, arbitrary: filled('(n: $, ...$) => ($)', plainType, plainType, plainType) },
  { weight: 1, arbitrary: filled('(($ | $) => $)?', plainType, plainType, plainType) },
)

/** The default value is of the type. */
const withDefault = one(
  'Int = 1',
  'Int = (2)',
  'Int | String = "a"',
  '(Int | String)? = /* why */ 3',
  'String = "#{1 + 1}"',
  'Any = { x: 1 }',
  'Time = Time.now()',
  'Array<Int> = [1, (2)]',
)

/** Uses the document `doc`. */
const expression = one(
  'doc.a',
  '(doc.a)',
  'doc { a, b }',
  'doc { a, b: .c, c { d, e: .f { g } } }',
  'doc { a: .a, b }',
  'if (doc.a == 1) doc.b else doc { a }',
  'doc.list.map(x => x { a })',
  'doc.list.map((x) => { let y: (Int | Null)? = x; y })',
  'doc.a ?? doc.b + 1',
  'at (doc.a) doc.b',
  'doc["a b"]!.c?.d?.[0]',
  '{ doc }',
)

const lambda = fc.oneof(
  filled('doc => $', expression),
  filled('(doc) => $', expression),
  filled('(doc => $)', expression),
  filled('((doc) => ($))', expression),
  filled('(doc => { let x = 1; $ })', expression),
  one('(.a)', '(.a == 1)', '(.a { b, c })', '(.["a b"])', '(/* short */ .a + .b)'),
)

const grouped = fc.oneof(
  filled('((doc) => $)', expression),
  filled('(doc => ($))', expression),
  one('(.a)', '(.a == .b)', '( .a!.b )'),
)

const path = one('.a', '.b', '.c.d', '.e[0]', 'mva(.f)')
const ordered = fc.oneof(path, filled('desc($)', path), filled('asc($)', path))

const comment = one('', '', '\n', ' // why\n', '\n  // a comment\n  /* and { another */\n')
const end = one('\n', ';\n', '\n\n', ' // because\n', ' /* . */ ;\n')

/** Random order and layout. Members with the same key are dropped. */
function block(members: readonly fc.Arbitrary<readonly [key: string, text: string]>[]): Text {
  const member = fc.tuple(comment, fc.oneof(...members), end)
  return fc
    .tuple(fc.uniqueArray(member, { selector: ([, [key]]) => key, maxLength: 7 }), end)
    .map(
      ([all, last]) =>
        `{${last}${all.map(([before, [, text], after]) => `${before}  ${text}${after}`).join('')}}`,
    )
}

function keyed(key: string, text: Text): fc.Arbitrary<readonly [string, string]> {
  return text.map(each => [key, each] as const)
}

const fields = ['a', 'b', 'c'].flatMap(name => [
  keyed(name, filled(`${name}: $`, fc.oneof(type, withDefault))),
  keyed(name, filled(`compute ${name} = $`, lambda)),
  keyed(name, filled(`compute ${name}: $ = $`, anyType, lambda)),
])

const indexTerms = filled(' terms [$]\n', path)
const indexValues = filled(' values [$, $]\n', ordered, ordered)

const indexes = ['byA', 'byB'].map(name =>
  keyed(
    name,
    fc.oneof(
      filled(`index ${name} {$}`, fc.oneof(indexTerms, indexValues)),
      filled(`index ${name} {$$}`, indexTerms, indexValues),
      filled(`index ${name} {$$ terms [] }`, indexValues, one('', '\n')),
    ),
  ),
)

const collection = filled(
  '$$collection C $',
  one('', '// about C\n', '/* about C */ '),
  one('', '@alias(X)\n', '@alias(Y) '),
  block([
    ...fields,
    keyed('*', filled('*: $', one('Any', '(Any)'))),
    ...indexes,
    keyed('unique', filled('unique [$]', path)),
    keyed('unique 2', filled('unique [$, .z]', path)),
    keyed('check k', filled('check k $', grouped)),
    keyed('check l', filled('check l $', grouped)),
    keyed('history_days', one('history_days 0', 'history_days 3', 'history_days 10')),
    keyed('ttl_days', one('ttl_days 3', 'ttl_days 10')),
    keyed('document_ttls', one('document_ttls true', 'document_ttls false')),
  ]),
)

const annotations = one(
  '',
  '@alias(g)\n',
  '@alias(h) ',
  '@role(server)\n',
  '@role("server-readonly")\n',
  '@alias(g)\n@role(server)\n',
  '@role(server) @alias(h)\n',
  '@role(server)\n// comment\n@alias(g) ',
)

const head = fc.oneof(
  one('()', '(doc)', '(doc, b)', '(...doc)', '(doc, ...b)'),
  filled('(): $', anyType),
  filled('(doc: $): $', anyType, anyType),
  filled('(doc: $, ...b: $): $', anyType, anyType, anyType),
)

const userFunction = filled(
  '$function f$ { $ }',
  annotations,
  head,
  fc.oneof(expression, filled('\n  // first\n  let x: ($)? = 1\n  $\n', plainType, expression)),
)

const predicate = filled(' { predicate $ }', grouped)
const actions = block(
  ['read', 'create', 'delete'].map(name => keyed(name, filled(`${name}$`, maybe(predicate)))),
)

const role = filled(
  'role r $',
  block([
    ...['D', 'E', 'Key'].map(name => keyed(`privileges ${name}`, filled(`privileges ${name} $`, actions))),
    ...['D', 'E'].map(name => keyed(`membership ${name}`, filled(`membership ${name}$`, maybe(predicate)))),
  ]),
)

const provider = filled(
  'access provider p $',
  fc
    .tuple(
      one('issuer "https://one.example"', 'issuer "https://two.example"'),
      one('jwks_uri "https://one.example/keys"', 'jwks_uri "https://two.example/keys"'),
      block(['reader', 'writer'].map(name => keyed(name, filled(`role ${name}$`, maybe(predicate))))),
    )
    .map(([issuer, uri, roles]) => `{\n  ${issuer}\n  ${uri} // keys\n${roles.slice(1)}`),
)

/** Differ only in the spelling of their body. */
const spelled = filled(
  'function f() { $ }',
  fc.oneof(one('1.0', '1.00', '1e0', '[1, 2]', '(1, 2)', '"a"', "'a'", '0x10', '16', '(16)'), expression),
)

/** Generators by kind of item. */
export const schemaTexts = {
  collection,
  function: userFunction,
  'spelled function': spelled,
  role,
  'access provider': provider,
} as const
