// Converts amounts of time for `add` and `subtract`. Integers are exact; doubles are truncated or rounded.

import { msg } from '../../base/message.ts'
import { type TimeUnit, timeUnit } from '../../values/time.ts'
import type { Call } from '../call.ts'
import { doubleOf } from '../numbers.ts'
import { integerOf, type NumberValue } from '../value.ts'

/**
 * The unit with a name, ignoring surrounding whitespace. Throws `invalid_unit`. `noun` is the kind of unit in the
 * error.
 */
export function unitNamed(text: string, noun: 'time' | 'date', call: Call): TimeUnit {
  const unit = timeUnit(text.trim())
  if (unit !== undefined && (noun === 'time' || unit.ofDates)) return unit
  throw call.failure('invalid_unit', msg`\`${text}\` is not a valid ${noun} unit.`)
}

/** The rounding of fractions of a nanosecond. */
type Cut = 'toward zero' | 'half up'

/**
 * Converts an amount to nanoseconds. A double counts with its shortest decimal digits. Undefined for an infinite amount
 * or NaN.
 */
export function nanosOf(amount: NumberValue, unit: TimeUnit, cut: Cut): bigint | undefined {
  const integer = integerOf(amount)
  if (integer !== undefined) return integer * unit.nanos
  const double = doubleOf(amount)
  return Number.isFinite(double) ? timesDecimal(unit.nanos, double, cut) : undefined
}

/** Multiplies an integer with the decimal digits of a double, and rounds the product to an integer. */
function timesDecimal(factor: bigint, double: number, cut: Cut): bigint {
  const [digits = '', exponentText = '0'] = double.toExponential().split('e')
  const [whole = '', fraction = ''] = digits.split('.')
  const product = factor * BigInt(whole + fraction)
  const exponent = Number(exponentText) - fraction.length
  if (exponent >= 0) return product * 10n ** BigInt(exponent)
  const divisor = 10n ** BigInt(-exponent)
  if (cut === 'toward zero') return product / divisor
  const doubled = 2n * product + divisor
  const floor = doubled / (2n * divisor)
  return doubled < 0n && floor * 2n * divisor !== doubled ? floor - 1n : floor
}

/** Rounds a double to an integer, with halves rounded up. */
export function roundHalfUp(double: number): number {
  return Math.floor(double + 0.5)
}
