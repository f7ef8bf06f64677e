// Rounds and truncates to a number of decimal places. The formulas are the protocol's with their quirks: halves of
// negative numbers are rounded toward zero, intermediate results are 64-bit integers, and from ten places on the scale
// is the largest 32-bit integer.

import { cutToLong, type Num, toLong } from './arithmetic.ts'

/** The default number of places. */
export const defaultPlaces = 2n

/** Rounds to `places` decimals; to tens, hundreds … when negative. Integers are unchanged for positive places. */
export function round(value: Num, places: bigint): Num {
  if (places > 0n) return typeof value === 'bigint' ? value : roundFraction(value, fractionScale(places))
  const scale = tensScale(places)
  const rounded = cutToLong(Number(value) * scale + 0.5) / scale
  return typeof value === 'bigint' ? toLong(rounded) : cutToLong(rounded)
}

/** Truncates after `places` decimals; after tens, hundreds … when negative. */
export function truncate(value: Num, places: bigint): Num {
  if (places > 0n) return typeof value === 'bigint' ? value : truncateFraction(value, fractionScale(places))
  const scale = tensScale(places)
  const cut = cutToLong(Number(value) * scale) / scale
  return typeof value === 'bigint' ? toLong(cut) : cut
}

function roundFraction(value: number, scale: number): number {
  const whole = cutToLong(value)
  return whole + cutToLong((value - whole + 0.5 / scale) * scale) / scale
}

function truncateFraction(value: number, scale: number): number {
  const whole = cutToLong(value)
  return whole + cutToLong((value - whole) * scale) / scale
}

/** Java's largest `int`, to which it clamps a larger scale. */
const intMax = 2 ** 31 - 1

function fractionScale(places: bigint): number {
  return places > 9n ? intMax : 10 ** Number(places)
}

/** 10 to the power of `places`, which is not positive. Parsed from text, because `10 ** -5` is inexact. */
function tensScale(places: bigint): number {
  return Number(`1e${places}`)
}
