// Amounts of time, as `add` and `subtract` take them: integers are exact, doubles are cut.

import { msg } from '../../base/message.ts'
import { type TimeUnit, timeUnit } from '../../values/time.ts'
import type { Call } from '../call.ts'
import { doubleOf } from '../numbers.ts'
import { integerOf, type NumberValue } from '../value.ts'

/** The unit with that name, blanks around it aside. Throws `invalid_unit`; `noun` says units of what. */
export function unitNamed(text: string, noun: 'time' | 'date', call: Call): TimeUnit {
  const unit = timeUnit(text.trim())
  if (unit !== undefined && (noun === 'time' || unit.ofDates)) return unit
  throw call.failure('invalid_unit', msg`\`${text}\` is not a valid ${noun} unit.`)
}

/** How a fraction of a nanosecond is left out. */
type Cut = 'toward zero' | 'half up'

/** Nanoseconds of so many units, a double by its shortest decimal digits; undefined for what is no finite number. */
export function nanosOf(amount: NumberValue, unit: TimeUnit, cut: Cut): bigint | undefined {
  const integer = integerOf(amount)
  if (integer !== undefined) return integer * unit.nanos
  const double = doubleOf(amount)
  return Number.isFinite(double) ? timesDecimal(unit.nanos, double, cut) : undefined
}

/** An integer times the decimal that a double is printed as, as an integer. */
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

/** A double rounded to a whole number, halves upward. */
export function roundHalfUp(double: number): number {
  return Math.floor(double + 0.5)
}
