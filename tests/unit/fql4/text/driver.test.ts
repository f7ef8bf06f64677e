// Text in the notation of the npm driver is parsed to the JSON that the driver sends: for every function it exports,
// with arguments of every type and number.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { createContext, runInContext } from 'node:vm'
import { FqlSyntaxError, fqlFunctions, parseExpression } from '../../../../src/fql4/text/index.ts'
import { writeJson } from '../../../../src/values/write-json.ts'
import { fc } from '../../../support/fast-check.ts'

// The types of the driver do not allow access to functions by name.
const { query } = createRequire(import.meta.url)('faunadb') as { query: Record<string, unknown> }

/** The exports of the driver that are not functions of the language. */
const notOfTheLanguage: ReadonlySet<string> = new Set(['arity', 'wrap'])

/** The names that the driver's users import. All texts share the context, because creating one takes 2 ms. */
const driverNames = createContext({ ...query, q: query })

/**
 * The query that the driver would send for a text, evaluated like the code of its users; undefined when the driver
 * rejects it.
 */
function sentByDriver(text: string): unknown {
  try {
    return JSON.parse(JSON.stringify(runInContext(`(${text})`, driverNames)))
  } catch (cause) {
    if (/Invalid|Function requires/.test(String((cause as Error).name))) return undefined
    throw cause
  }
}

function ours(text: string): unknown {
  return JSON.parse(writeJson(parseExpression(text).json))
}

/** Deprecated functions warn whenever they are called. */
process.noDeprecation = true

/** Functions for which the driver ignores additional arguments; we reject them. */
const ignoresExcess: Readonly<Record<string, number>> = {
  Casefold: 2,
  Concat: 2,
  Hypot: 2,
  Pow: 2,
  Round: 2,
  Trunc: 2,
}

const argument = fc.oneof(
  fc.constantFrom(
    '"a"',
    '2',
    'null',
    'true',
    '["x", 3]',
    '[]',
    '[1]',
    '{}',
    '{k: "v", l: [null]}',
    'Var("v")',
  ),
  fc.constantFrom('x => x', '(a, b) => Add(a, [b])', 'Lambda("i", q.Var("i"))', 'Now()', '-1.5', '`t`'),
)

/** Arguments for functions with special requirements. */
const special: Readonly<Record<string, readonly string[]>> = {
  Bytes: ['"AQID"'],
  Lambda: ['x => Add(x, 1)', '(x, y) => [y, x]', '"x", Var("x")', '["x", "_"], 1', 'Lambda("x", 1)'],
  Let: [
    '{a: 1, b: Add(Var("a"), 2)}, Var("b")',
    '{a: 1, b: 2}, (x, y) => [y, x]',
    '[{a: 1}, {a: Var("a")}], Var("a")',
    '[{a: 1}, {b: 2}], (p, q) => ({p: p, q})',
    '{}, 1',
  ],
  Object: ['{a: 1, b: {c: [2]}}', '{}'],
  Paginate: [
    '"s"',
    'Match("i"), {size: 2, after: [1, "x"], events: true}',
    'Databases(), {}',
    'Match("i"), {ts: Now(), before: null, sources: false, cursor: {before: 1}}',
  ],
  Ref: ['"classes/users/1"', 'Collection("users"), "1"', 'Class("users"), 7', '"x", NewId()'],
}

const names = Object.keys(query).filter(name => !notOfTheLanguage.has(name))

test('the driver has functions', () => assert.ok(names.length > 200))

for (const name of names) {
  test(`${name} gives the JSON of the driver`, () => {
    const lists = special[name]
    if (lists) {
      for (const list of lists)
        assert.deepEqual(ours(`${name}(${list})`), sentByDriver(`${name}(${list})`), list)
      return
    }
    let accepted = 0
    const check = (args: readonly string[]) => {
      if (args.length > (ignoresExcess[name] ?? args.length)) return
      const text = `q.${name}(${args.join(', ')})`
      const expected = sentByDriver(text)
      if (expected === undefined) return
      accepted++
      assert.deepEqual(ours(text), expected, text)
    }
    const list = fc.array(argument, { maxLength: 5 })
    fc.assert(fc.property(list, check), { seed: 20_261_121, numRuns: 60 })
    assert.ok(accepted > 0, 'the driver accepted no arguments')
  })
}

test('the functions that the driver lacks are exactly these', () => {
  const added = fqlFunctions.map(({ name }) => name).filter(name => !names.includes(name))
  assert.deepEqual(added, ['Expr', 'First', 'IsUUID', 'Last', 'SelectAsIndex', 'UUID'])
})

test('a number of arguments rejected by the driver is rejected', () => {
  const wrong = [
    'Get()',
    'Now(1)',
    'If(1, 2)',
    'Add()',
    'Collections(1, 2)',
    'Select("a")',
    'Lambda()',
    'Bytes()',
  ]
  for (const text of wrong) {
    assert.equal(sentByDriver(text), undefined, text)
    assert.throws(() => parseExpression(text), FqlSyntaxError, text)
  }
})

test('expressions nested in one another', () => {
  const text = `q.Map(
    q.Paginate(q.Match(q.Index('users_by_age'), [30, 'x']), { size: 10 }),
    q.Lambda(['age', 'ref'], q.Let(
      { user: q.Get(q.Var('ref')) }, // the document
      { name: q.Select(['data', 'name'], q.Var('user')), /* one more */ age: q.Var('age') },
    )),
  )`
  assert.deepEqual(ours(text), sentByDriver(text))
})
