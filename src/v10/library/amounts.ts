// Amounts of time, as `add` and `subtract` take them: integers are exact, doubles are cut.

import { type TimeUnit, timeUnit } from '../../values/time.ts'
import type { Call } from '../call.ts'
import { doubleOf } from '../numbers.ts'
import { integerOf, type NumberValue } from '../value.ts'

/** The unit with that name, blanks around it aside. Throws `invalid_unit`; `noun` says units of what. */
export function unitNamed(text: string, noun: 'time' | 'date', call: Call): TimeUnit {
  const unit = timeUnit(text.trim())
  if (unit !== undefined && (noun === 'time' || unit.ofDates)) return unit
  throw call.failure('invalid_unit', `\`${text}\` is not a valid ${noun} unit.`)
}

/** Nanoseconds of so many units, a double cut or rounded to whole ones; undefined for what is no finite number. */
export function nanosOf(
  amount: NumberValue,
  unit: TimeUnit,
  cut: (double: number) => number,
): bigint | undefined {
  const integer = integerOf(amount)
  if (integer !== undefined) return integer * unit.nanos
  const nanos = cut(doubleOf(amount) * Number(unit.nanos))
  return Number.isFinite(nanos) ? BigInt(nanos) : undefined
}

/** A double rounded to a whole number, halves upward. */
export function roundHalfUp(double: number): number {
  return Math.floor(double + 0.5)
}
