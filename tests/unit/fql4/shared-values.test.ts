// Values with shared parts or deep nesting: they are small in memory, and are not traversed again for each place where
// they occur.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepsSoFar } from '../../../src/base/effort.ts'
import { limits } from '../../../src/base/limits.ts'
import { RequestError } from '../../../src/base/request-errors.ts'
import { SetValue } from '../../../src/fql4/values/transient.ts'
import { LetGroup, lookUp, Variables } from '../../../src/fql4/variables.ts'
import { extentOf } from '../../../src/values/extent.ts'
import { Ref, type Value } from '../../../src/values/value.ts'
import { ValueKeys } from '../../../src/values/value-keys.ts'
import { openTestEngine } from '../../support/engine.ts'
import { errorsOf, evaluatePure } from '../../support/evaluate-pure.ts'

function doubled(times: number, leaf: Value = 'x'): Value {
  let value = leaf
  for (let time = 0; time < times; time++)
    value =
      time % 2 === 0
        ? [value, value]
        : new Map([
            ['a', value],
            ['b', value],
          ])
  return value
}

/** A query that doubles a value repeatedly by `combine` of the variable `v`. */
function doubling(times: number, combine: object, initial: unknown = ['x']): object {
  return { reduce: { lambda: ['v', '_'], expr: combine }, initial, collection: Array(times).fill(0) }
}

const v = { var: 'v' }
const both = [v, v]

function refusedAsTooLarge(query: object): void {
  assert.throws(
    () => evaluatePure(query),
    (error: unknown) => error instanceof RequestError && /^Value is too large/.test(error.description),
  )
}

test('the extent of a value doubled very often is known immediately', () => {
  assert.ok(extentOf(doubled(60)) > 2 ** 60)
  assert.equal(extentOf([1n, 'abc', [null]]), 1 + 1 + 4 + 2)
  assert.equal(extentOf(new Map([['ab', 'c']])), 1 + 2 + 2)
})

test('keys distinguish values doubled very often', () => {
  const keys = new ValueKeys()
  const unions = (leaf: Value) => {
    let value = new SetValue({ type: 'match', index: new Ref(0n, 3, 32_768n), terms: [leaf] })
    for (let time = 0; time < 60; time++) value = new SetValue({ type: 'union', sets: [value, value] })
    return value
  }
  assert.equal(keys.keyOf(doubled(60)), keys.keyOf(doubled(60)))
  assert.notEqual(keys.keyOf(doubled(60)), keys.keyOf(doubled(60, 'y')))
  assert.notEqual(keys.keyOf(doubled(60)), keys.keyOf(doubled(58)))
  assert.equal(keys.keyOf(unions('x')), keys.keyOf(unions('x')))
  assert.notEqual(keys.keyOf(unions('x')), keys.keyOf(unions('y')))
})

for (const [name, query] of Object.entries({
  'an array that contains itself twice': doubling(60, both),
  'an object that contains itself twice': doubling(60, { object: { a: v, b: v } }),
  'a value appended to an array that contains it': doubling(60, { append: [both], collection: [v] }),
  'fields merged with the previous object': doubling(
    60,
    { merge: v, with: v, lambda: { lambda: 'all', expr: { var: 'all' } } },
    { object: { a: 1 } },
  ),
  'maps within maps of one variable': {
    let: [{ v: doubling(20, both) }],
    in: [{ map: { lambda: 'x', expr: v }, collection: Array(10_000).fill(0) }],
  },
})) {
  test(`a value that is too large to print is rejected when it is created: ${name}`, () =>
    refusedAsTooLarge(query))
}

test('a lambda captures no value that is too large', () => {
  refusedAsTooLarge({ let: [{ v: doubling(23, both) }], in: { query: { lambda: 'x', expr: v } } })
})

test('values within the limit are still created and compared', () => {
  assert.equal(evaluatePure({ equals: [doubling(15, both), doubling(15, both)] }), true)
  assert.equal((evaluatePure({ distinct: [doubling(18, both), doubling(18, both)] }) as Value[]).length, 1)
})

test('shared values are rejected as terms and in documents before they are written', async t => {
  const { close, query, send } = openTestEngine()
  t.after(close)
  await query({ create_collection: { object: { name: 'c' } } })
  const source = { collection: 'c' }
  await query({
    create_index: { object: { name: 'i', source, terms: [{ object: { field: ['data', 'a'] } }] } },
  })
  const value = doubling(22, both)
  const asTerm = await send({ is_empty: { match: { index: 'i' }, terms: [value] } })
  assert.match(asTerm.body, /Key bytes \(\d+\) exceeds threshold/)
  const params = { object: { data: { object: { a: value } } } }
  const written = await send({ create: { collection: 'c' }, params })
  assert.match(written.body, /Version bytes \(\d+\) exceeds threshold/)
  const text = { let: [{ t: { repeat: 'x'.repeat(1024), number: 1024 } }], in: Array(9).fill({ var: 't' }) }
  const texts = await send({
    create: { collection: 'c' },
    params: { object: { data: { object: { a: text } } } },
  })
  assert.match(texts.body, /Version bytes \(\d+\) exceeds threshold/)
})

test('pages nested in cursors take a time that grows with their depth', async t => {
  const { close, query, send } = openTestEngine()
  t.after(close)
  await query({ create_collection: { object: { name: 'c' } } })
  const stepsOf = async (depth: number) => {
    let nested: object = { create: { collection: 'c' }, params: { object: {} } }
    for (let level = 0; level < depth; level++) {
      nested = { paginate: { documents: { collection: 'c' } }, after: nested }
    }
    const before = stepsSoFar()
    assert.equal((await send(nested)).status, 200)
    return stepsSoFar() - before
  }
  const [half, whole] = [await stepsOf(200), await stepsOf(400)]
  assert.ok(whole < 3 * half, `${half} and ${whole} steps`)
})

test('variables of a long let are found by name, each with the binding at its use', () => {
  const count = 20_000
  const bindings = Array.from({ length: count }, (_, index) => ({ [`v${index}`]: index }))
  const uses = bindings.map((_, index) => ({ var: `v${index}` }))
  const before = stepsSoFar()
  const values = evaluatePure({ let: bindings, in: uses }) as Value[]
  const expected = Array.from({ length: count }, (_, index) => BigInt(index))
  assert.deepEqual(values, expected)
  assert.ok(stepsSoFar() - before < 100 * count)
  const again = Array.from({ length: 40 }, (_, index) => ({
    x: index === 0 ? 1 : { add: [{ var: 'x' }, 1] },
  }))
  assert.equal(evaluatePure({ let: again, in: { var: 'x' } }), 40n)
})

test('a variable keeps its value in results created before it was bound again', () => {
  const group = new LetGroup(new Variables('z', 0n, undefined))
  const early = new Variables('x', 1n, group.outer, group)
  const late = new Variables('x', 3n, new Variables('y', 2n, early, group), group)
  assert.equal(lookUp(early, 'x'), 1n)
  assert.equal(lookUp(late, 'x'), 3n)
  assert.equal(lookUp(late, 'z'), 0n)
  assert.throws(() => lookUp(early, 'y'))
})

test('errors of the elements of one argument are reported up to a limit', () => {
  const elements = Array.from({ length: 50_000 }, (_, index) => index)
  assert.equal(errorsOf({ concat: elements }).length, limits.gatheredErrorsMax)
})
