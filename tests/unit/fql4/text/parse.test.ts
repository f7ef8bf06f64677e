// Parses text: exact values, errors with their positions, and the way from positions on the wire back to the text.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  excerpt,
  FqlSyntaxError,
  fqlFunctions,
  lineAndColumn,
  NoValueError,
  parseExpression,
  parseExpressions,
  printQuery,
  printValue,
  readExpressions,
  valueOfQuery,
} from '../../../../src/fql4/text/index.ts'
import { parseJson } from '../../../../src/values/json.ts'
import { writeJson } from '../../../../src/values/write-json.ts'
import { openTestEngine } from '../../../support/engine.ts'

const read = (text: string) => writeJson(parseExpression(text).json)

const exact: readonly (readonly [text: string, json: string])[] = [
  ['1', '1'],
  ['1.0', '1.0'],
  ['-0', '0'],
  ['-0.0', '-0.0'],
  ['1e3', '1000.0'],
  ['1E-7', '1e-7'],
  ['.5', '0.5'],
  ['5.', '5.0'],
  ['1_000', '1000'],
  ['0x10', '16'],
  ['7n', '7'],
  ['9223372036854775807', '9223372036854775807'],
  ['- 9223372036854775808', '-9223372036854775808'],
  ['-(1)', '-1'],
  ['((2))', '2'],
  ['"a\\u0041\\n"', '"aA\\n"'],
  ["'it\\'s'", '"it\'s"'],
  ['`two\nlines`', '"two\\nlines"'],
  ['{}', '{"object":{}}'],
  ['{a: 1, "b-c": [true], 2: null, __proto__: 3,}', '{"object":{"a":1,"b-c":[true],"2":null,"__proto__":3}}'],
  ['{"@ref": 1}', '{"object":{"@obj":{"@ref":1}}}'],
  ['x => [x]', '{"lambda":"x","expr":[{"var":"x"}]}'],
  ['(Map) => { return Add(Map, 1); }', '{"lambda":"Map","expr":{"add":[{"var":"Map"},1]}}'],
  [
    'a => b => ({a, b})',
    '{"lambda":"a","expr":{"lambda":"b","expr":{"object":{"a":{"var":"a"},"b":{"var":"b"}}}}}',
  ],
  ['faunadb.query.Now()', '{"now":null}'],
  ['Expr({select: ["a"], from: {a: 1}, all: true})', '{"select":["a"],"from":{"object":{"a":1}},"all":true}'],
  ['Query(Lambda("x", 1), "3")', '{"@query":{"api_version":"3","lambda":"x","expr":1}}'],
  ['Ref("classes/a/1")', '{"@ref":"classes/a/1"}'],
]
for (const [text, json] of exact) {
  test(`${text} is ${json}`, () => assert.equal(read(text), json))
}

/** Each with the part of the text marked by `^`. */
const rejected: readonly (readonly [text: string, message: RegExp, marked: string])[] = [
  ['', /^an expression is missing$/, ''],
  ['1 2', /^there is more than one expression$/, '2'],
  ['Gte(1)', /^unknown name "Gte"; did you mean GTE\?$/, 'Gte'],
  ['Add(1, x)', /^unknown name "x"; a variable is written Var\("x"\)/, 'x'],
  ['Add(1, Now)', /^Now is a function: write Now\(\)$/, 'Now'],
  ['undefined', /^unknown name "undefined"/, 'undefined'],
  ['1 + 2', /^there is no operator \+: write Add\(a, b\)/, '1 + 2'],
  ['!true', /^there is no operator !: write Not\(a\)$/, '!true'],
  ['-"a"', /^there is no operator -/, '-"a"'],
  ['Map([1], x => x > 1)', /^there is no operator >: write GT/, 'x > 1'],
  ['true ? 1 : 2', /^there is no \?: operator: write If/, 'true ? 1 : 2'],
  ['Now().data', /^there are no fields by dot or bracket: write Select/, 'Now().data'],
  ['(1, 2)', /^there is no comma operator/, '1, 2'],
  ['a = 1', /^there is no assignment/, 'a = 1'],
  ['[...[1]]', /^there is no \.\.\. operator$/, '...[1]'],
  ['[1,,2]', /^an element of the array is missing$/, '[1,,2]'],
  ['`a$\x7b1}`', /^a template string cannot contain expressions$/, '`a$\x7b1}`'],
  ['/a/', /^a regular expression is written as a string$/, '/a/'],
  ['function (x) { return x }', /^a function is written \(a, b\) => expr/, 'function (x) { return x }'],
  ['new Date()', /^there is no new$/, 'new Date()'],
  ['console.log(1)', /^a function is called by its name$/, 'console.log'],
  ['Add(1)(2)', /^a function is called by its name$/, 'Add(1)'],
  ['process.exit()', /^a function is called by its name$/, 'process.exit'],
  ['constructor(1)', /^unknown name "constructor"/, 'constructor'],
  ['{a: 1, a: 2}', /^the key "a" occurs twice$/, 'a'],
  ['{[1]: 2}', /^a field is written name: value$/, '[1]: 2'],
  ['{get a() { return 1 }}', /^a field is written name: value$/, 'get a() { return 1 }'],
  ['() => 1', /^a function has at least one parameter$/, '() => 1'],
  ['(a = 1) => a', /^a parameter is a name$/, 'a = 1'],
  ['x => { Add(x, 1) }', /^the body of a function is an expression/, '{ Add(x, 1) }'],
  ['9223372036854775808', /^the integer has more than 64 bits$/, '9223372036854775808'],
  ['1e999', /^the number is too large$/, '1e999'],
  ['Get()', /^Get takes 1 to 2 arguments, 0 given$/, 'Get()'],
  ['If(1, 2, 3, 4, 5)', /^If takes 3 arguments, 5 given$/, '4, 5'],
  ['Now(1)', /^Now takes no arguments, 1 given$/, '1'],
  ['Paginate(Now(), {sise: 1})', /^Paginate has no option "sise"; did you mean size\?$/, '1'],
  ['Paginate(Now(), 10)', /^Paginate takes an object here/, '10'],
  ['Let(1, 2)', /^Let takes an object here/, '1'],
  ['Let({a: 1}, (a, b) => b)', /^there are more parameters than bindings$/, 'b'],
  ['Bytes(1)', /^Bytes takes a string here$/, '1'],
  ['Ref(Collection("a"))', /^Ref takes a string here$/, 'Collection("a")'],
  ['Query(1, "3")', /^Query takes a Lambda$/, '1'],
  ['"abc', /^unterminated string constant$/, '"'],
  ['import("x")', /^this is not part of the language/, 'import("x")'],
  ['[1}', /^unexpected token$/, '}'],
]
for (const [text, message, marked] of rejected) {
  test(`${text || 'nothing'} is rejected: ${message.source}`, () => {
    assert.throws(
      () => parseExpression(text),
      (error: unknown) => {
        assert.ok(error instanceof FqlSyntaxError)
        assert.match(error.message, message)
        assert.equal(text.slice(error.start, error.end), marked)
        return true
      },
    )
  })
}

test('an error has line and column, and shows the position', () => {
  const text = '// a comment\r\nMap(\n\t[1], // more\n\tx => Ad(x)\n)'
  assert.throws(
    () => parseExpression(text),
    (error: unknown) => {
      assert.ok(error instanceof FqlSyntaxError)
      assert.deepEqual([error.line, error.column], [4, 7])
      assert.deepEqual(excerpt(text, error), ['\tx => Ad(x)', '\t     ^^'])
      return true
    },
  )
})

test('an excerpt of a long line stays short', () => {
  const text = `[${'1, '.repeat(5000)}xyz, ${'1, '.repeat(5000)}]`
  const [line, underline] = excerpt(text, { start: text.indexOf('xyz'), end: text.indexOf('xyz') + 3 })
  assert.ok(line.length <= 100)
  assert.equal(line.slice(underline.indexOf('^'), underline.lastIndexOf('^') + 1), 'xyz')
})

test('lines end as in JavaScript', () => {
  const text = 'a\nb\r\nc\u2028d'
  const places = [...text].map((_, offset) => lineAndColumn(text, offset).line)
  assert.deepEqual(places, [1, 1, 2, 2, 2, 3, 3, 4])
})

test('incomplete texts are reported as such', () => {
  const open = [
    'Get(',
    'Get(Ref(Collection("a"), "1")',
    '{a: 1,',
    '[1',
    '`abc',
    'Add(1, /* c',
    '1 +',
    'x =>',
    '"a" /* c',
  ]
  for (const text of open) {
    assert.throws(() => parseExpressions(text), { name: 'FqlSyntaxError', incomplete: true }, text)
  }
  for (const text of ['Get(1))', '"a', 'Gett(1)', '[1}']) {
    assert.throws(() => parseExpressions(text), { name: 'FqlSyntaxError', incomplete: false }, text)
  }
})

test('several expressions, with comments and semicolons between them', () => {
  const text = '#!/usr/bin/env terrarium\n// one\nAdd(1, 2) /* two */ {a: 1};;\n(x => x)\n"three" // end'
  const found = parseExpressions(text)
  const texts = found.map(({ start, end }) => text.slice(start, end))
  assert.deepEqual(texts, ['Add(1, 2)', '{a: 1}', '(x => x)', '"three"'])
  assert.equal(parseExpressions(' // nothing\n').length, 0)
})

test('an expression ends at the end of the line where JavaScript would continue', () => {
  const text = 'Now()\n[1]\n(2) // two\n[3]\n/* four */ (x => x)\nq.Now() /* five\n */\n`six`\n7\n-8\n9 [10]'
  const found = parseExpressions(text.slice(0, text.indexOf('\n9 ')))
  const texts = found.map(({ start, end }) => text.slice(start, end))
  assert.deepEqual(texts, ['Now()', '[1]', '(2)', '[3]', '(x => x)', 'q.Now()', '`six`', '7', '-8'])
  assert.throws(() => parseExpressions(text), { message: /^there are no fields by dot or bracket/ })
  assert.equal(parseExpressions('Now\n()').length, 1)
})

test('expressions are parsed one by one: those before an error are returned', () => {
  const found = readExpressions('1 2 foo(')
  assert.equal(found.next().value?.json, 1n)
  assert.equal(found.next().value?.json, 2n)
  assert.throws(() => found.next(), FqlSyntaxError)
})

test('the time to parse many expressions is proportional to their number', () => {
  const count = 20_000
  const text = '{ ref: Ref(Collection("users"), "1"), data: { at: Time("2020-01-01T00:00:00Z") } }\n'.repeat(
    count,
  )
  assert.equal(parseExpressions(text).length, count)
})

test('nesting beyond the stack is an ordinary error', () => {
  for (const open of ['[', 'Add(', '{a: ', 'x => ', '-']) {
    assert.throws(() => parseExpression(open.repeat(200_000)), { name: 'FqlSyntaxError' }, open)
  }
})

test('a wire position leads to a place in the text', () => {
  const text = `Let({ a: 1, b: Add(1, 2) },
    Map(Paginate(Match(Index("i"), Var("a"), 7), { size: 2, after: [1] }), (k, r) => Select(["data", "x"], Get(r))))`
  const { source } = parseExpression(text)
  const places: readonly (readonly [position: readonly (string | number)[], text: string])[] = [
    [[], text],
    [['let', 1, 'b'], 'Add(1, 2)'],
    [['let', 1, 'b', 'add', 0], '1'],
    [['in', 'collection', 'paginate', 'terms', 1], '7'],
    [['in', 'collection', 'paginate', 'match'], 'Index("i")'],
    [['in', 'collection', 'size'], '2'],
    [['in', 'collection', 'after', 0], '1'],
    [['in', 'map', 'lambda'], 'k, r'],
    [['in', 'map', 'expr', 'from', 'get'], 'r'],
    [['in', 'map', 'expr', 'select', 1], '"x"'],
    [['in', 'map', 'expr', 'from', 'nowhere', 'else'], 'Get(r)'],
  ]
  for (const [position, expected] of places) {
    const { start, end } = source.at(position)
    assert.equal(text.slice(start, end), expected, position.join('/'))
  }
})

test('the positions of the service’s errors lead to places in the text', async () => {
  await using engine = openTestEngine()
  const cases: readonly (readonly [text: string, place: string])[] = [
    ['Add(1, Divide(1, 0))', 'Divide(1, 0)'],
    ['[1, Get(Ref(Collection("none"), "1"))]', 'Collection("none")'],
    ['{a: {b: ToNumber("x")}}', 'ToNumber("x")'],
    ['Let({a: 1, b: Abort("no")}, 2)', 'Abort("no")'],
    ['Let({a: 1}, Add(Var("a"), Var("c")))', 'Var("c")'],
    ['Map([1], x => Concat([x]))', 'x'],
    ['Paginate(Databases(), {size: "many"})', '"many"'],
    ['Do(1, [Select("a", {b: 1})])', '{b: 1}'],
    ['CreateCollection({name: "a", history_days: "x"})', '{name: "a", history_days: "x"}'],
  ]
  for (const [text, place] of cases) {
    const { json, source } = parseExpression(text)
    const { body } = await engine.send(writeJson(json))
    const { errors } = JSON.parse(body) as { errors: { position: (string | number)[] }[] }
    const [first] = errors
    assert.ok(first, body)
    const { start, end } = source.at(first.position)
    assert.ok(
      text.slice(start, end).includes(place) && text.slice(start, end).length <= place.length + 12,
      `${body}: ${text.slice(start, end)}`,
    )
  }
})

test('expressions that need evaluation are not values', () => {
  const value = (text: string) => writeJson(valueOfQuery(parseExpression(text).json))
  assert.equal(value('{at: Time("2020-01-01T00:00:00Z")}'), '{"at":{"@ts":"2020-01-01T00:00:00Z"}}')
  assert.throws(
    () => value('{a: [1, Add(1, 2)]}'),
    (error: unknown) => {
      assert.ok(error instanceof NoValueError)
      assert.deepEqual(error.position, ['object', 'a', 1])
      return true
    },
  )
  for (const text of ['Now()', 'Var("x")', 'Time(Var("x"))', 'Ref(Collection("a"), NewId())', 'x => x']) {
    assert.throws(() => value(text), NoValueError, text)
  }
  assert.throws(() => value('Expr({filter: Expr({lambda: "x"}), collection: Collections()})'), NoValueError)
})

test('long parts are printed on lines of their own, short ones together', () => {
  const document = parseJson(
    '{"ref":{"@ref":{"id":"1","collection":{"@ref":{"id":"users","collection":{"@ref":{"id":"collections"}}}}}},"ts":1648000000000000,"data":{"at":{"@ts":"2020-01-01T00:00:00Z"},"tags":["a","b"],"no-identifier":{}}}',
  )
  assert.equal(
    printValue(document, { columns: 60 }),
    [
      '{',
      '  ref: Ref(Collection("users"), "1"),',
      '  ts: 1648000000000000,',
      '  data: {',
      '    at: Time("2020-01-01T00:00:00Z"),',
      '    tags: ["a", "b"],',
      '    "no-identifier": {}',
      '  }',
      '}',
    ].join('\n'),
  )
  const query =
    'CreateIndex({ name: "users_by_email", source: Collection("users"), terms: [{ field: ["data", "email"] }] })'
  assert.equal(
    printQuery(parseExpression(query).json, { columns: 60 }),
    [
      'CreateIndex({',
      '  name: "users_by_email",',
      '  source: Collection("users"),',
      '  terms: [{ field: ["data", "email"] }]',
      '})',
    ].join('\n'),
  )
})

test('functions are listed with their signatures', () => {
  const signatures = new Map(fqlFunctions.map(({ name, signature }) => [name, signature]))
  assert.equal(signatures.get('Get'), 'Get(ref, ts?)')
  assert.equal(signatures.get('Now'), 'Now()')
  assert.equal(signatures.get('Map'), 'Map(collection, lambda)')
  assert.equal(signatures.get('Match'), 'Match(index, …terms)')
  const paginate = 'Paginate(set, {ts, size, after, before, cursor, events, sources}?)'
  assert.equal(signatures.get('Paginate'), paginate)
  assert.ok(fqlFunctions.every(({ summary, result }) => summary !== '' && result !== ''))
})
