// Random values for property tests. Difficult values are more frequent than in a uniform distribution.

import {
  Lambda,
  LocalDate,
  type ObjectValue,
  Ref,
  Time,
  TransactionTime,
  Uuid,
  type Value,
} from '../../src/values/value.ts'
import { fc } from './fast-check.ts'

const long = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -70n, max: 70n }),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
  fc.bigInt({ min: -(2n ** 53n) - 3n, max: -(2n ** 53n) + 3n }),
  fc.constantFrom(2n ** 63n - 1n, 2n ** 63n - 513n, -(2n ** 63n), 128n, -129n, 2n ** 31n, -(2n ** 31n) - 1n),
)

const double = fc.oneof(
  fc.double(),
  fc.integer({ min: -70, max: 70 }),
  fc.constantFrom(
    0,
    -0,
    Number.NaN,
    Infinity,
    -Infinity,
    2 ** 53,
    -(2 ** 53),
    2 ** 53 + 2,
    2 ** 63,
    -(2 ** 63),
    2 ** 64,
  ),
)

/** Longs and doubles, many of them close to one another. */
export const numbers: fc.Arbitrary<bigint | number> = fc.oneof(long, double)

/**
 * Strings of single UTF-16 units (lone surrogates too), of ASCII, and of characters that collation treats in a special
 * way.
 */
export const texts: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary-ascii' }),
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 4 }).map(units => String.fromCharCode(...units)),
  fc.string({
    unit: fc.constantFrom(
      'a',
      'A',
      'b',
      'á',
      'ß',
      's',
      'æ',
      '\u0301',
      '\u0323',
      '\0',
      '-',
      ' ',
      '\u0e40',
      '\u0e01',
      '\u0418',
      '\u0306',
      '\ud83d',
      '中',
    ),
    maxLength: 6,
  }),
)

const bytes = fc.uint8Array({ maxLength: 6 })
const ref = fc
  .tuple(fc.constantFrom(1, 2, 1024, 32767), fc.oneof(fc.constantFrom(0n, 1n, -1n, 300n), long))
  .map(([collection, id]) => new Ref(5n, collection, id))
const time = fc
  .tuple(fc.oneof(long, fc.constantFrom(0n, 1n, -1n)), fc.integer({ min: 0, max: 999_999_999 }))
  .map(([seconds, nanos]) => new Time(seconds, nanos))
const date = fc.integer({ min: -365_243_219_162, max: 365_241_780_471 }).map(day => new LocalDate(day))
const uuid = fc.uuid().map(text => new Uuid(text))

const { value } = fc.letrec<{ value: Value; array: readonly Value[]; object: ObjectValue; lambda: Lambda }>(
  tie => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      numbers,
      texts,
      fc.constantFrom(null, true, false),
      fc.oneof(bytes, ref, time, date, uuid),
      tie('array'),
      tie('object'),
      tie('lambda'),
    ),
    array: fc.array(tie('value'), { maxLength: 3 }),
    object: fc
      .uniqueArray(fc.tuple(texts, tie('value')), { maxLength: 3, selector: ([name]) => name })
      .map(entries => new Map(entries)),
    lambda: fc
      .tuple(
        fc.oneof(fc.constantFrom('x', '_'), fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 })),
        tie('value'),
      )
      .map(([parameters, body]) => new Lambda('4', parameters, body)),
  }),
)

export const storableValues: fc.Arbitrary<Value> = value

export const orderedValues: fc.Arbitrary<Value> = fc.oneof(
  { arbitrary: value, weight: 20 },
  { arbitrary: fc.constantFrom(TransactionTime.micros, TransactionTime.time), weight: 1 },
)
