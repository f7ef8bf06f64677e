// Aggregates of arrays and pages without a store, and of sets through an engine in memory.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Cursor, Page } from '../../../src/fql4/values/transient.ts'
import { compareValues } from '../../../src/values/order.ts'
import type { Value } from '../../../src/values/value.ts'
import { openTestEngine, type TestEngine } from '../../support/engine.ts'
import { assertError, errorOf, errorsOf, evaluatePure, pureSession } from '../../support/evaluate-pure.ts'
import { fc } from '../../support/fast-check.ts'
import { numbers, orderedValues } from '../../support/value-arbitraries.ts'

const given = { var: 'given' }
const adding = { lambda: ['sum', 'n'], expr: { add: [{ var: 'sum' }, { var: 'n' }] } }

function aggregate(name: string, elements: Value): Value {
  return evaluatePure({ [name]: given }, { given: elements })
}

function page(...data: Value[]): Page {
  const positions = data.map((value): Cursor => ({ type: 'values', values: [value] }))
  return new Page(data, positions[0], { type: 'values', values: ['next'] }, () => positions)
}

describe('arrays', () => {
  test('sum adds like the function add, starting from 0', () => {
    fc.assert(
      fc.property(fc.array(numbers, { maxLength: 5 }), elements => {
        assert.deepEqual(aggregate('sum', elements), aggregate('add', [0n, ...elements]))
      }),
    )
  })

  test('mean is a double, and does not wrap around', () => {
    assert.ok(Object.is(evaluatePure({ mean: [2, 2] }), 2))
    assert.equal(evaluatePure('{"mean": [9223372036854775807, 9223372036854775807]}'), 2 ** 63)
    assert.equal(evaluatePure('{"mean": [9007199254740993, 0.5, 0.5]}'), 2 ** 53 / 3)
  })

  test('max and min use the order of all values and return the last of equal values', () => {
    fc.assert(
      fc.property(fc.array(orderedValues, { minLength: 2, maxLength: 5 }), elements => {
        const [max, min] = [aggregate('max', elements), aggregate('min', elements)]
        assert.ok(elements.every(each => compareValues(each, max) <= 0 && compareValues(each, min) >= 0))
        assert.ok(
          Object.is(
            elements.findLast(each => compareValues(each, max) === 0),
            max,
          ),
        )
        assert.ok(
          Object.is(
            elements.findLast(each => compareValues(each, min) === 0),
            min,
          ),
        )
      }),
    )
    assert.equal(evaluatePure('{"max": [1, 1.0]}'), 1)
    assert.equal(evaluatePure('{"min": [1.0, 1]}'), 1n)
  })

  test('max and min unwrap a lone array or page', () => {
    assert.equal(evaluatePure({ max: [[1, 3, 2]] }), 3n)
    assert.deepEqual(evaluatePure({ max: [[1, 3], [2]] }), [2n])
    assert.deepEqual((aggregate('min', [page(2n, 1n)]) as Page).data, [1n])
  })

  test('max and min report every unresolved reference', () => {
    const missing = (name: string) => ({
      code: 'invalid ref',
      description: `Ref refers to undefined collection '${name}'`,
      position: ['min'],
    })
    const query = { min: [{ collection: 'a' }, 1, [{ collection: 'b' }]] }
    assert.deepEqual(errorsOf(query), [missing('a'), missing('b')])
  })

  test('any and all check every element', () => {
    assert.equal(evaluatePure({ all: [true, true] }), true)
    for (const [name, elements] of [
      ['any', [true, 'x']],
      ['all', [false, 'x', 1]],
    ] as const) {
      assertError({ [name]: elements }, 'invalid argument', 'Boolean expected, String provided.', [name])
    }
  })

  test('the first element that is not a number is reported, without its index', () => {
    for (const name of ['sum', 'mean']) {
      assertError({ [name]: [1, 'x', null] }, 'invalid argument', 'Number expected, String provided.', [name])
    }
  })

  test('without elements there is no mean and no extreme', () => {
    for (const name of ['mean', 'max', 'min']) {
      const rejected = {
        code: 'invalid argument',
        description: 'Non-empty array expected.',
        position: [name],
      }
      assert.deepEqual(errorOf({ [name]: given }, { given: page() }), rejected)
    }
  })

  test('reduce folds from the left; a lambda of one name gets both as an array', () => {
    assert.equal(evaluatePure({ reduce: adding, initial: 10, collection: [1, 2, 3] }), 16n)
    const pairs = { reduce: { lambda: 'pair', expr: { var: 'pair' } }, initial: 0, collection: [1, 2] }
    assert.deepEqual(evaluatePure(pairs), [[0n, 1n], 2n])
    assert.deepEqual(errorOf({ reduce: adding, initial: 0, collection: [1, 'x'] }).position, [
      'reduce',
      'expr',
      'add',
      1,
    ])
  })

  test('elements cost as much as calls, except in max and min', () => {
    const costs = { count: 10, sum: 10, mean: 10, any: 10, all: 10, max: 1, min: 1 }
    for (const [name, ops] of Object.entries(costs)) {
      const session = pureSession()
      const element = name === 'any' || name === 'all' ? true : 1n
      evaluatePure({ [name]: given }, { session, given: new Array(499).fill(element) })
      assert.equal(session.computeOps, ops, name)
    }
  })
})

test('a page returns a page of the single value, with its cursors', () => {
  for (const [name, value] of Object.entries({ count: 3n, sum: 6n, mean: 2, max: 3n, min: 1n })) {
    const source = page(1n, 3n, 2n)
    const answer = aggregate(name, source) as Page
    assert.deepEqual([answer.data, answer.before, answer.after], [[value], source.before, source.after])
  }
  const folded = evaluatePure(
    { reduce: adding, initial: 4, collection: given },
    { given: page(1n, 2n) },
  ) as Page
  assert.deepEqual(folded.data, [7n])
  const dropped = evaluatePure({ drop: 0, collection: { count: given } }, { given: page(1n, 2n) }) as Page
  assert.deepEqual(dropped.before, page(1n).before)
})

describe('sets', () => {
  let engine: TestEngine
  const values = { match: { index: 'values' } }

  before(async () => {
    engine = openTestEngine()
    await engine.query({ create_collection: { object: { name: 'things' } } })
    await engine.query({
      create_index: {
        object: {
          name: 'values',
          source: { collection: 'things' },
          values: [{ object: { field: ['data', 'value'] } }],
        },
      },
    })
    await engine.query({
      foreach: {
        lambda: 'n',
        expr: {
          create: { collection: 'things' },
          params: { object: { data: { object: { value: { var: 'n' } } } } },
        },
      },
      collection: Array.from({ length: 150 }, (_, index) => index + 1),
    })
  })
  after(() => engine.close())

  test('aggregates read the whole set', async () => {
    const query = ['count', 'sum', 'mean', 'max', 'min'].map(name => ({ [name]: values }))
    assert.deepEqual(await engine.query(query), [150, 11_325, 75.5, 150, 1])
    assert.equal(await engine.query({ reduce: adding, initial: 10, collection: values }), 11_335)
    assert.equal(await engine.query({ max: [values] }), 150)
  })

  test('a filtered set is a set, which is read as far as needed', async () => {
    const even = { lambda: 'n', expr: { equals: [{ modulo: [{ var: 'n' }, 2] }, 0] } }
    const filtered = { filter: even, collection: values }
    assert.equal(await engine.query({ count: filtered }), 75)
    assert.deepEqual(await engine.query({ select: 'data', from: { paginate: filtered, size: 3 } }), [2, 4, 6])
    assert.equal(
      await engine.query({ is_empty: { filter: { lambda: 'n', expr: false }, collection: values } }),
      true,
    )
    assert.equal(await engine.query({ is_nonempty: filtered }), true)
  })

  test('filters of sets may not write, and must return a boolean', async () => {
    const writing = { lambda: 'n', expr: { create: { collection: 'things' } } }
    const rejected = JSON.parse((await engine.send({ filter: writing, collection: values })).body)
    assert.deepEqual(rejected.errors, [
      {
        position: ['filter'],
        code: 'invalid argument',
        description: 'Invalid lambda. Lambda in this context may not write or call a user function.',
      },
    ])
    const odd = { count: { filter: { lambda: 'n', expr: { var: 'n' } }, collection: values } }
    assert.deepEqual(JSON.parse((await engine.send(odd)).body).errors[0].position, ['count', 'filter'])
  })

  test('a lambda that adds to the set it reads sees the set before its changes', async () => {
    const adder = {
      lambda: ['n', 'ref'],
      expr: { do: [{ create: { collection: 'things' } }, { add: [{ var: 'n' }, 1] }] },
    }
    const things = { documents: { collection: 'things' } }
    assert.equal(await engine.query({ reduce: adder, initial: 0, collection: things }), 150)
    assert.equal(await engine.query({ count: things }), 300)
  })
})
