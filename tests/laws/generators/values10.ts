// Values of version 10 in the format `tagged`. Both languages can store them.

import { fc } from '../../support/fast-check.ts'

/** A value in the format `tagged`. */
export type Tagged = null | boolean | string | readonly Tagged[] | { readonly [key: string]: Tagged }

const intMax = 2 ** 31 - 1
const integer = fc
  .oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.constantFrom(0n, 1n, -1n, 2n ** 31n, -(2n ** 31n) - 1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)),
    fc.integer().map(BigInt),
  )
  .map((n): Tagged => ({ [n > intMax || n < -intMax - 1 ? '@long' : '@int']: String(n) }))

const double = fc
  .oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(1, 1e7, -2, 1e300, 5e-324))
  // There is no literal for -0.0.
  .map((n): Tagged => ({ '@double': String(n === 0 ? 0 : n) }))

const two = (n: number) => String(n).padStart(2, '0')
const date = fc
  .tuple(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }))
  .map(([year, month, day]) => `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`)
const time = fc
  .tuple(date, fc.integer({ min: 0, max: 59 }), fc.constantFrom('', '.5', '.000001', '.000000001'))
  .map(([day, second, fraction]) => `${day}T00:00:${two(second)}${fraction}Z`)

/** Values that are neither strings, arrays nor objects. */
const scalar: fc.Arbitrary<Tagged> = fc.oneof(
  fc.constantFrom(null, true, false),
  integer,
  double,
  date.map(text => ({ '@date': text })),
  time.map(text => ({ '@time': text })),
  fc.uint8Array({ maxLength: 6 }).map(bytes => ({ '@bytes': Buffer.from(bytes).toString('base64') })),
)

/** Random values. */
export function values10(strings: fc.Arbitrary<string>, keys: fc.Arbitrary<string>): fc.Arbitrary<Tagged> {
  return fc.letrec<{ value: Tagged }>(tie => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      scalar,
      strings,
      fc.array(tie('value'), { maxLength: 3 }),
      fc
        .uniqueArray(fc.tuple(keys, tie('value')), { maxLength: 3, selector: ([key]) => key })
        .map((entries): Tagged => ({ '@object': Object.fromEntries(entries) })),
    ),
  })).value
}
