// Truth values and the order of values, as the functions of the language see them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Action, Page } from '../../../src/fql4/values/transient.ts'
import type { ApiVersion } from '../../../src/fql4/wire/version.ts'
import { compareValues } from '../../../src/values/order.ts'
import { UnresolvedRef, type Value } from '../../../src/values/value.ts'
import { errorOf, errorsOf, evaluatePure, pureSession } from '../../support/evaluate-pure.ts'
import { fc } from '../../support/fast-check.ts'
import { orderedValues } from '../../support/value-arbitraries.ts'

const given = { var: 'given' }
const nobody = new UnresolvedRef({ type: 'collection', name: 'nobody' })

describe('and, or, not', () => {
  test('evaluation ends at the operand that decides', () => {
    assert.equal(evaluatePure({ and: [true, false, { abort: 'not reached' }] }), false)
    assert.equal(evaluatePure({ or: [false, true, 'no boolean'] }), true)
  })

  test('before version 3 all operands are evaluated, and all type errors reported', () => {
    const old = { apiVersion: '2.12' } as const
    assert.equal(evaluatePure({ and: [true, true, false] }, old), false)
    assert.equal(evaluatePure({ or: [false, false, true] }, old), true)
    assert.equal(evaluatePure({ and: [true, true] }, old), true)
    assert.equal(evaluatePure({ or: false }, old), false)
    assert.equal(errorOf({ or: [true, { abort: 'reached' }] }, old).description, 'reached')
    assert.deepEqual(
      errorsOf({ and: [1, false, 'x'] }, old).map(({ position }) => position),
      [
        ['and', 0],
        ['and', 2],
      ],
    )
    assert.deepEqual(errorOf({ and: 1 }, old).position, ['and'])
    assert.equal(errorOf({ and: [] }, old).description, 'Non-empty array expected.')
  })

  test('they cost nothing since version 3', () => {
    const session = pureSession()
    for (let times = 0; times < 200; times++) evaluatePure({ and: [true, true] }, { session })
    assert.equal(session.computeOps, 1)
  })
})

describe('equals', () => {
  test('numbers are equal by value at the top level, and by type inside', () => {
    assert.equal(evaluatePure('{"equals": [1, 1.0, 1]}'), true)
    assert.equal(evaluatePure('{"equals": [[1], [1.0]]}'), false)
    assert.equal(evaluatePure('{"equals": [0, -0.0]}'), false)
    assert.equal(evaluatePure('{"equals": [-0.0, 0]}'), false)
    assert.equal(
      evaluatePure('{"equals": [9007199254740993, 9007199254740992.0]}'),
      true,
      'the long is rounded',
    )
    assert.equal(evaluatePure({ equals: [given, given] }, { given: Number.NaN }), true)
    assert.equal(evaluatePure({ equals: 5 }), true)
    assert.equal(evaluatePure({ equals: [nobody, nobody].map(() => given) }, { given: nobody }), true)
  })

  test('an action equals its name, and before version 5 also its name in the oldest version', () => {
    const equals = (left: Value, right: Value, apiVersion: ApiVersion = '4') =>
      evaluatePure({ equals: given }, { given: [left, right], apiVersion })
    const [update, remove] = [new Action('update'), new Action('remove')]
    assert.ok(equals(update, 'create') && equals('create', new Action('add')) && equals(remove, 'delete'))
    assert.ok(equals(update, 'update') && equals(update, 'update', '5'))
    assert.ok(!equals(update, 'delete') && !equals(new Action('create'), 'update'))
    assert.ok(!equals(update, 'create', '5'))
  })
})

describe('lt, lte, gt, gte', () => {
  test('they agree with the total order for all values', () => {
    fc.assert(
      fc.property(orderedValues, orderedValues, (left, right) => {
        const order = compareValues(left, right)
        const operands = { given: [left, right] }
        assert.equal(evaluatePure({ lt: given }, operands), order < 0)
        assert.equal(evaluatePure({ lte: given }, operands), order <= 0)
        assert.equal(evaluatePure({ gt: given }, operands), order > 0)
        assert.equal(evaluatePure({ gte: given }, operands), order >= 0)
      }),
    )
  })

  test('every pair of neighbours is compared', () => {
    assert.equal(evaluatePure({ lt: [1, 2, 3] }), true)
    assert.equal(evaluatePure({ lt: [{ object: {} }] }), true)
  })

  test('an unresolved reference cannot be compared, at any depth', () => {
    const missing = {
      code: 'invalid ref',
      description: "Ref refers to undefined collection 'nobody'",
      position: ['gt'],
    }
    assert.deepEqual(errorOf({ gt: { collection: 'nobody' } }), missing)
    assert.deepEqual(errorOf({ gt: [1, [{ object: { a: { collection: 'nobody' } } }]] }), missing)
    const page = new Page([nobody], undefined, undefined)
    assert.deepEqual(errorsOf({ gt: [1, given, given] }, { given: [page] }), [missing, missing])
  })
})
