// Iteration over elements: results of lambdas for arrays and pages, their cursors, failures, waits and limits.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '../../../src/base/limits.ts'
import { Memo, Pending } from '../../../src/base/pending.ts'
import { RequestError } from '../../../src/base/request-errors.ts'
import { string } from '../../../src/fql4/arguments.ts'
import { define, family } from '../../../src/fql4/definition.ts'
import { evaluate } from '../../../src/fql4/evaluate.ts'
import { registry } from '../../../src/fql4/functions/registry.ts'
import { parseQuery } from '../../../src/fql4/parse-query.ts'
import { type Cursor, Page } from '../../../src/fql4/values/transient.ts'
import { parseJson } from '../../../src/values/json.ts'
import type { Value } from '../../../src/values/value.ts'
import { assertError, errorOf, errorsOf, evaluatePure, pureSession } from '../../support/evaluate-pure.ts'

const given = { var: 'given' }
const x = { var: 'x' }
const lambda = (expr: unknown) => ({ lambda: 'x', expr })
const isEven = lambda({ equals: [{ modulo: [x, 2] }, 0] })

function cursor(value: Value): Cursor {
  return { type: 'values', values: [value] }
}

/** A page of the integers from `first` (inclusive) to `end` (exclusive), within a longer sequence. */
function page(first: bigint, end: bigint): Page {
  const data = Array.from({ length: Number(end - first) }, (_, index) => first + BigInt(index))
  return new Page(data, cursor(first), cursor(end), () => data.map(cursor))
}

/** The parts of a page that clients see: its cursors' values and its data. */
function shown(value: Value): Value[] {
  assert.ok(value instanceof Page)
  const at = (end: Cursor | undefined) => (end?.type === 'values' ? (end.values[0] as Value) : 'none')
  return [at(value.before), at(value.after), value.data]
}

describe('map, foreach, filter', () => {
  test('arrays', () => {
    assert.deepEqual(evaluatePure({ map: lambda({ add: [x, 1] }), collection: [1, 2, 3] }), [2n, 3n, 4n])
    assert.deepEqual(evaluatePure({ foreach: lambda({ add: [x, 1] }), collection: [1, 2] }), [1n, 2n])
    assert.deepEqual(evaluatePure({ filter: isEven, collection: [1, 2, 3, 4] }), [2n, 4n])
    assert.deepEqual(evaluatePure({ map: lambda(x), collection: [] }), [])
  })

  test('pages keep their cursors', () => {
    const options = { given: page(5n, 8n) }
    assert.deepEqual(shown(evaluatePure({ map: lambda({ add: [x, 10] }), collection: given }, options)), [
      5n,
      8n,
      [15n, 16n, 17n],
    ])
    assert.deepEqual(shown(evaluatePure({ filter: isEven, collection: given }, options)), [5n, 8n, [6n]])
    assert.equal(evaluatePure({ foreach: lambda(x), collection: given }, options), options.given)
  })

  test('nothing else can be iterated', () => {
    const description = 'Array, Set, or Page expected, Integer provided.'
    for (const name of ['map', 'foreach', 'filter']) {
      assertError({ [name]: lambda(x), collection: 1 }, 'invalid argument', description, ['collection'])
      assert.equal(errorOf({ [name]: lambda(x), collection: { collection: 'no' } }).code, 'invalid ref')
    }
  })

  test('map and foreach stop at the first failure, and report it without the index of its element', () => {
    const failing = lambda({ divide: [1, { subtract: [x, 2] }] })
    for (const name of ['map', 'foreach']) {
      assertError(
        { [name]: failing, collection: [1, 2, 2] },
        'invalid argument',
        'Illegal division by zero.',
        [name, 'expr'],
      )
    }
    assertError(
      { map: { lambda: ['a', 'b'], expr: 1 }, collection: [[1, 2], [3]] },
      'invalid argument',
      'Lambda expects an array with 2 elements. Array contains 1.',
      ['map', 'lambda'],
    )
  })

  test('filter reports the failures of all elements, or otherwise all results that are not booleans', () => {
    const failing = lambda({ equals: [0, { modulo: [x, 2] }] })
    assert.deepEqual(
      errorsOf({ filter: failing, collection: ['a', 2, 'b'] }).map(({ position }) => position),
      [
        ['filter', 'expr', 'equals', 1, 'modulo', 0],
        ['filter', 'expr', 'equals', 1, 'modulo', 0],
      ],
    )
    assert.deepEqual(
      errorsOf({ filter: lambda(x), collection: [true, 1, 'a'] }).map(error => [
        error.description,
        error.position,
      ]),
      [
        ['Boolean expected, Integer provided.', [1]],
        ['Boolean expected, String provided.', [2]],
      ],
    )
    const many = { given: Array.from({ length: 5000 }, () => 1n) }
    const { length } = errorsOf({ filter: lambda(x), collection: given }, many)
    assert.equal(length, limits.gatheredErrorsMax)
  })

  test('width is limited', () => {
    const wide = { given: new Array<Value>(limits.queryWidthMax + 1).fill(null) }
    for (const name of ['map', 'foreach', 'filter']) {
      assert.throws(() => evaluatePure({ [name]: lambda(true), collection: given }, wide), {
        name: 'RequestError',
        code: 'bad request',
        description: 'Query exceeds max width. Max: 100000, current: 100001.',
      })
    }
    const calls = new Array(limits.queryWidthMax + 1).fill({ now: null })
    const tooWide = { name: 'RequestError', code: 'bad request' }
    assert.throws(() => evaluatePure(calls), tooWide)
    const members = Object.fromEntries(calls.map((call, index) => [`m${index}`, call]))
    assert.throws(() => evaluatePure({ object: members }), tooWide)
    assert.equal((evaluatePure(calls.slice(1)) as readonly Value[]).length, limits.queryWidthMax)
    const fitting = { given: wide.given.slice(1) }
    const mapped = evaluatePure({ map: lambda(1), collection: given }, fitting)
    assert.equal((mapped as readonly Value[]).length, limits.queryWidthMax)
  })

  test('each application counts', () => {
    const session = pureSession()
    evaluatePure({ map: lambda(x), collection: given }, { session, given: new Array(499).fill(1n) })
    assert.equal(session.computeOps, 10)
  })
})

describe('take and drop', () => {
  test('arrays', () => {
    const cases: readonly [query: object, answer: Value][] = [
      [{ take: 0, collection: [1] }, []],
      [{ take: -1, collection: [1] }, []],
    ]
    for (const [query, answer] of cases) assert.deepEqual(evaluatePure(query), answer)
    assert.deepEqual(evaluatePure('{"take": 9223372036854775807, "collection": [1]}'), [1n])
    assert.deepEqual(evaluatePure('{"drop": -9223372036854775808, "collection": [1]}'), [1n])
  })

  /** Count, cursors and data of the page 5…9 after `take` or `drop`; mapped and filtered pages beside. */
  const mapped = { map: lambda({ add: [x, 10] }), collection: given }
  const filtered = { filter: isEven, collection: mapped }
  const emptied = { filter: lambda(false), collection: mapped }
  const pages: readonly [name: string, of: object, count: number, answer: Value[]][] = [
    ['take', given, 3, [5n, 8n, [5n, 6n, 7n]]],
    ['take', given, 5, [5n, 10n, [5n, 6n, 7n, 8n, 9n]]],
    ['take', given, 0, [5n, 5n, []]],
    ['take', given, -3, [5n, 5n, []]],
    ['drop', given, 2, [7n, 10n, [7n, 8n, 9n]]],
    ['drop', given, 8, [10n, 10n, []]],
    ['drop', given, -3, [5n, 10n, [5n, 6n, 7n, 8n, 9n]]],
    ['take', mapped, 3, [5n, 8n, [15n, 16n, 17n]]],
    ['drop', mapped, 2, [7n, 10n, [17n, 18n, 19n]]],
    ['drop', filtered, 0, [6n, 10n, [16n, 18n]]],
    ['drop', filtered, 1, [8n, 10n, [18n]]],
    ['drop', filtered, 2, [10n, 10n, []]],
    ['drop', filtered, -3, [5n, 10n, [16n, 18n]]],
    ['take', filtered, 1, [5n, 8n, [16n]]],
    ['take', emptied, -1, [5n, 5n, []]],
    ['take', emptied, 0, [5n, 10n, []]],
    ['drop', emptied, 0, [10n, 10n, []]],
    ['drop', emptied, -1, [5n, 10n, []]],
    ['drop', { take: 3, collection: given }, 1, [6n, 8n, [6n, 7n]]],
  ]
  for (const [name, of, count, answer] of pages) {
    test(`${name} ${count} of ${JSON.stringify(of)}`, () => {
      const options = { given: page(5n, 10n) }
      assert.deepEqual(shown(evaluatePure({ [name]: count, collection: of }, options)), answer)
    })
  }
})

describe('prepend, append, is_empty, is_nonempty', () => {
  test('one element is a list of one', () => {
    assert.deepEqual(evaluatePure({ prepend: 1, collection: [2] }), [1n, 2n])
    assert.deepEqual(evaluatePure({ append: [2, [3]], collection: [1] }), [1n, 2n, [3n]])
    const options = { given: page(1n, 2n) }
    assertError(
      { append: 1, collection: given },
      'invalid argument',
      'Array expected, Page provided.',
      ['collection'],
      options,
    )
  })

  test('the size of an array is limited', () => {
    const half = new Array<Value>(limits.arrayElementsMax / 2).fill(null)
    const full = evaluatePure({ append: given, collection: given }, { given: half }) as readonly Value[]
    assert.equal(full.length, limits.arrayElementsMax)
    assert.throws(() => evaluatePure({ prepend: 1, collection: given }, { given: full }), RequestError)
  })

  test('a page is empty when its data is', () => {
    assert.equal(evaluatePure({ is_empty: given }, { given: page(1n, 1n) }), true)
    assert.equal(evaluatePure({ is_nonempty: given }, { given: page(1n, 2n) }), true)
  })
})

/** A function that waits for an answer with its name, with the effect under test. */
function asking(effect: 'read' | 'write') {
  const [ask] = family('Test', [
    define({
      effect,
      arguments: { ask: string },
      result: 'Any',
      summary: 'Waits.',
      example: ['', ''],
      evaluate: (args, call) =>
        call.session.memo.get(args.ask, async () => (args.ask.startsWith('odd') ? 'odd' : true)),
    }),
  ]).definitions
  return {
    findSet: registry.findSet,
    find(keys: Iterable<string>, version: string) {
      const all = [...keys]
      return all.join() === 'ask' ? ask : registry.find(all, version)
    },
  }
}

/** The keys for which a query waits, round by round, and its result. */
async function rounds(
  query: object,
  effect: 'read' | 'write',
): Promise<{ asked: string[][]; result: unknown }> {
  const { expression } = parseQuery(parseJson(JSON.stringify(query)), '4', asking(effect))
  const memo = new Memo()
  const asked: string[][] = []
  for (;;) {
    memo.begin()
    try {
      return { asked, result: evaluate(expression, undefined, pureSession({}, memo)) }
    } catch (error) {
      if (!(error instanceof Pending)) return { asked, result: error }
      asked.push(error.missing.map(({ key }) => key))
      await memo.resolve(error)
    }
  }
}

describe('waits', () => {
  const ask = lambda({ ask: x })

  test('the waits of all elements are requested together, equal ones once', async () => {
    for (const name of ['map', 'filter', 'foreach']) {
      const { asked } = await rounds({ [name]: ask, collection: ['a', 'b', 'a'] }, 'read')
      assert.deepEqual(asked, [['a', 'b']])
    }
    const nested = {
      map: { lambda: 'y', expr: { map: ask, collection: { var: 'y' } } },
      collection: [['a', 'b'], ['c']],
    }
    assert.deepEqual((await rounds(nested, 'read')).asked, [['a', 'b', 'c']])
  })

  test('a lambda that may write stops at the first', async () => {
    const { asked, result } = await rounds({ map: ask, collection: ['a', 'b'] }, 'write')
    assert.deepEqual(asked, [['a'], ['b']])
    assert.deepEqual(result, [true, true])
  })

  test('a failure after a wait is not reported before the wait ends', async () => {
    const failing = lambda({ if: { equals: [x, 'c'] }, then: { abort: 'c' }, else: { not: { ask: x } } })
    const { asked, result } = await rounds({ map: failing, collection: ['a', 'odd', 'c', 'd'] }, 'read')
    assert.deepEqual(asked, [['a', 'odd']])
    assert.match(String(result), /Boolean expected, String provided/)
  })

  test('a round has a limit', async () => {
    const collection = Array.from({ length: limits.awaitedResultsMax + 1 }, (_, index) => `k${index}`)
    const { asked } = await rounds({ map: ask, collection }, 'read')
    const lengths = asked.map(({ length }) => length)
    assert.deepEqual(lengths, [limits.awaitedResultsMax, 1])
  })

  test('an answer that fails fails the wait, the others are kept', async () => {
    const memo = new Memo()
    const fails = new Pending([{ key: 'bad', start: () => Promise.reject(new Error('no')) }])
    const works = new Pending([{ key: 'good', start: async () => 1 }])
    await assert.rejects(memo.resolve(Pending.all([fails, works])), /no/)
    const good = memo.get('good', async () => 2)
    assert.equal(good, 1)
  })
})
