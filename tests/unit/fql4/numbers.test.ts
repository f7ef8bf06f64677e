// Arithmetic, bits, rounding and trigonometry: exact integers against an unlimited model, doubles against the runtime,
// and the protocol's own results where they differ.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { javaDoubleText } from '../../../src/values/double-text.ts'
import type { Value } from '../../../src/values/value.ts'
import { assertError, errorOf, errorsOf, evaluatePure } from '../../support/evaluate-pure.ts'
import { fc } from '../../support/fast-check.ts'
import { numbers } from '../../support/value-arbitraries.ts'

type Num = bigint | number

const long = numbers.filter(value => typeof value === 'bigint') as fc.Arbitrary<bigint>
const double = numbers.filter(value => typeof value === 'number') as fc.Arbitrary<number>

/** The result of a function for values, with any further arguments. */
function call(name: string, given: Value, further: object = {}): Value {
  return evaluatePure({ [name]: { var: 'given' }, ...further }, { given })
}

/** Checks values and, by the text, that doubles are doubles and zeros have their sign. */
function same(actual: Value, expected: Num): void {
  assert.equal(typeof actual, typeof expected)
  assert.ok(Object.is(actual, expected), `${actual} is not ${expected}`)
}

const model: Record<
  string,
  { long: (a: bigint, b: bigint) => bigint; double: (a: number, b: number) => number }
> = {
  add: { long: (a, b) => a + b, double: (a, b) => a + b },
  subtract: { long: (a, b) => a - b, double: (a, b) => a - b },
  multiply: { long: (a, b) => a * b, double: (a, b) => a * b },
  divide: { long: (a, b) => a / b, double: (a, b) => a / b },
  modulo: { long: (a, b) => a % b, double: (a, b) => a % b },
}

function modelled(name: string, operands: readonly Num[]): Num {
  return operands.reduce((left, right) =>
    typeof left === 'bigint' && typeof right === 'bigint'
      ? BigInt.asIntN(64, model[name]?.long(left, right) as bigint)
      : (model[name]?.double(Number(left), Number(right)) as number),
  )
}

describe('arithmetic', () => {
  for (const name of Object.keys(model)) {
    test(`${name} folds from the left, wraps integers and turns to doubles with the first double`, () => {
      fc.assert(
        fc.property(fc.array(numbers, { minLength: 1, maxLength: 4 }), operands => {
          const divides = name === 'divide' || name === 'modulo'
          if (divides && operands.slice(1).some(value => Number(value) === 0)) return
          same(call(name, operands), modelled(name, operands))
        }),
      )
    })
  }

  test('division by any zero fails, but a single operand is not divided', () => {
    const rejected = { code: 'invalid argument', description: 'Illegal division by zero.', position: [] }
    for (const zero of ['0', '0.0', '-0.0']) {
      assert.deepEqual(errorOf(`{"divide": [1, ${zero}]}`), rejected)
      assert.deepEqual(errorOf(`{"modulo": [1.5, ${zero}]}`), rejected)
    }
    assert.equal(evaluatePure({ divide: 0 }), 0n)
  })

  test('every operand that is not a number is reported', () => {
    const errors = errorsOf({ add: [1, 'a', null] })
    assert.deepEqual(
      errors.map(({ description, position }) => [description, position]),
      [
        ['Number expected, String provided.', ['add', 1]],
        ['Number expected, Null provided.', ['add', 2]],
      ],
    )
    assert.deepEqual(errorOf({ multiply: 'a' }).position, ['multiply'])
  })
})

describe('one number', () => {
  test('abs, ceil and floor keep the type', () => {
    fc.assert(
      fc.property(long, value => {
        same(call('ceil', value), value)
        same(call('floor', value), value)
        same(call('abs', value), BigInt.asIntN(64, value < 0n ? -value : value))
      }),
    )
    fc.assert(
      fc.property(double, value => {
        same(call('ceil', value), Math.ceil(value))
        same(call('floor', value), Math.floor(value))
        same(call('abs', value), Math.abs(value))
      }),
    )
  })

  test('sign never returns zero for doubles', () => {
    for (const [value, sign] of [
      [0n, 0n],
      [7n, 1n],
      [-7n, -1n],
      [0, 1n],
      [-0, 1n],
      [Number.NaN, 1n],
      [-0.1, -1n],
    ] as const) {
      same(call('sign', value), sign)
    }
  })

  test('a value outside a domain is reported as it would print', () => {
    for (const [query, description] of [
      ['{"sqrt": -1.0}', '-1.0 must be positive'],
      ['{"log": -1.5e10}', '-1.5E10 must be greater than 0'],
    ] as const) {
      assertError(query, 'invalid argument', description, [])
    }
    for (const name of ['sqrt', 'ln', 'log', 'acos', 'asin']) {
      assert.match(errorOf({ [name]: { var: 'given' } }, { given: Number.NaN }).description, /^NaN must be /)
    }
  })
})

describe('round and trunc', () => {
  const table: readonly [query: string, answer: string][] = [
    ['{"round": 555, "precision": 2}', '555'],
    ['{"round": 9007199254740993}', '9007199254740993'],
    ['{"round": 1.23456789, "precision": 12}', '1.234567890052948'],
    ['{"round": -0.001}', '0.0'],
    ['{"round": 5, "precision": -400}', '0'],
    ['{"trunc": -1.999}', '-1.99'],
    // The quotient of one and the double 1e-5 is a little less than 100000.
    ['{"trunc": 123456, "precision": -5}', '99999'],
  ]
  for (const [query, answer] of table) {
    test(`${query} is ${answer}`, () => {
      const value = evaluatePure(query) as Num
      assert.equal(typeof value === 'bigint' ? String(value) : javaDoubleText(value), answer)
    })
  }

  test('integers stay exact when no precision is given', () => {
    fc.assert(
      fc.property(long, fc.integer({ min: 1, max: 30 }), (value, precision) => {
        same(call('round', value), value)
        same(call('trunc', value), value)
        same(call('round', value, { precision }), value)
      }),
    )
  })

  test('round and trunc keep the type, and integers stay within 64 bits', () => {
    fc.assert(
      fc.property(numbers, long, (value, places) => {
        for (const name of ['round', 'trunc']) {
          const query = { [name]: { var: 'given' }, precision: { select: 1, from: { var: 'both' } } }
          const answer = evaluatePure(
            {
              let: { both: { var: 'given' } },
              in: { ...query, [name]: { select: 0, from: { var: 'both' } } },
            },
            { given: [value, places] },
          )
          assert.equal(typeof answer, typeof value)
          if (typeof answer === 'bigint') assert.equal(BigInt.asIntN(64, answer), answer)
        }
      }),
    )
  })
})

describe('bits', () => {
  const operations: Record<string, (a: bigint, b: bigint) => bigint> = {
    bitand: (a, b) => a & b,
    bitor: (a, b) => a | b,
    bitxor: (a, b) => a ^ b,
  }

  test('on integers they are those of 64-bit integers', () => {
    fc.assert(
      fc.property(fc.array(long, { minLength: 1, maxLength: 4 }), operands => {
        for (const [name, operation] of Object.entries(operations)) {
          same(call(name, operands), operands.reduce(operation))
        }
        same(call('bitnot', operands[0] as bigint), ~(operands[0] as bigint))
      }),
    )
  })

  test('doubles are truncated to the nearest integer in range, and make the result an integer', () => {
    same(call('bitand', [7.9, 3n]), 3)
    same(call('bitor', [4n, -1.5]), -1)
    same(call('bitxor', [Number.NaN, 5n]), 5)
    same(call('bitor', [Number.POSITIVE_INFINITY]), 2 ** 63)
    same(call('bitor', [Number.NEGATIVE_INFINITY]), -(2 ** 63))
    same(call('bitnot', 1.9), -2n)
    same(call('bitnot', 1e300), -(2n ** 63n))
  })
})

describe('trigonometry', () => {
  test('it equals the runtime’s, and always returns a double', () => {
    for (const name of ['atan', 'cos', 'cosh', 'exp', 'sin', 'sinh', 'tan', 'tanh'] as const) {
      fc.assert(
        fc.property(numbers, value => {
          same(call(name, value), Math[name](Number(value)))
        }),
        { numRuns: 30 },
      )
    }
  })

  test('defaults: hypot uses its first side twice, pow squares', () => {
    same(call('hypot', 3n, { b: 4 }), 5)
    same(call('hypot', 2n), Math.hypot(2, 2))
    same(call('pow', 3n), 9)
    same(call('pow', 2n, { exp: -1 }), 0.5)
    same(call('pow', -8n, { exp: 0.5 }), Number.NaN)
  })

  test('degrees and radians multiply by the factors of Java', () => {
    same(call('degrees', Math.PI), 180)
    same(call('radians', 180n), Math.PI)
    same(call('radians', 57n), 57 * 0.017453292519943295)
    same(call('log', 1000n), 3)
    same(call('ln', Math.E), 1)
  })
})
