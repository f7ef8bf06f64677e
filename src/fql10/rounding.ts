// Implements `Math.round` and `Math.trunc` to a number of decimal places; negative numbers of places give tens,
// hundreds and so on. The formulas reproduce results that apps have observed: negative numbers are rounded toward zero,
// and integers give Longs.

import { doubleOf, saturated } from './numbers.ts'
import { asLong, integerOf, type NumberValue } from './value.ts'

/** The original implementation stores powers of ten in 32 bits. */
const int32Max = 2 ** 31 - 1

/** The value to add before truncation: half a unit to round, nothing to truncate. */
type Half = 0.5 | 0

function scaled(value: number, scale: number, half: Half): bigint {
  return saturated(value * scale + half)
}

/** Rounds (with 0.5) or truncates (with 0) a number to `digits` decimal places. */
export function cutDigits(value: NumberValue, digits: number, half: Half): NumberValue {
  const scale = 10 ** digits
  const double = doubleOf(value)
  const integer = integerOf(value)
  if (integer !== undefined) {
    if (digits > 0) return asLong(integer)
    return asLong(saturated(Number(scaled(double, scale, half)) / scale))
  }
  if (digits <= 0) {
    const whole = Number(scaled(double, scale, half)) / scale
    return half === 0 ? whole : Number(saturated(whole))
  }
  const whole = Number(saturated(double))
  const units = Math.min(scale, int32Max)
  return whole + Number(saturated((double - whole + half / units) * units)) / units
}
