// `Math.round` and `Math.trunc`: to so many digits behind the point, of negative numbers to tens, hundreds and so on. The
// formulas are those that apps have seen results of: negative numbers are rounded toward zero, integers give Longs.

import { doubleOf, saturated } from './numbers.ts'
import { asLong, integerOf, type NumberValue } from './value.ts'

/** Powers of ten are held in 32 bits there. */
const int32Max = 2 ** 31 - 1

/** How a number is cut behind a digit: half a unit is added before, or nothing. */
type Half = 0.5 | 0

function scaled(value: number, scale: number, half: Half): bigint {
  return saturated(value * scale + half)
}

/** Rounds (with a half) or truncates (with 0) a number to `digits` behind the point. */
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
