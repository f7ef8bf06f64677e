// Conversions and roundings of numbers as in Java, which both languages need.

import { int64Max, int64Min } from './value.ts'

/** The factors of java.lang.Math, whose exact results clients expect. */
export const degreesPerRadian = 57.29577951308232
export const radiansPerDegree = 0.017453292519943295

/** Converts a double to an integer: rounds toward zero, clamps to 64 bits, and returns 0 for NaN. */
export function toLong(double: number): bigint {
  if (Number.isNaN(double)) return 0n
  if (double >= 2 ** 63) return int64Max
  return double <= -(2 ** 63) ? int64Min : BigInt(Math.trunc(double))
}

/** Like {@link toLong}, but returns the double nearest to the integer, never −0. */
function cutToLong(double: number): number {
  if (Number.isNaN(double)) return 0
  return Math.max(-(2 ** 63), Math.min(2 ** 63, Math.trunc(double))) + 0
}

/** The largest `int` of Java. */
const intMax = 2 ** 31 - 1

/**
 * Rounds (`half` is 0.5) or truncates (`half` is 0) to `places` decimal places; negative `places` mean tens, hundreds
 * and so on. The protocol defines the formulas, with three quirks. Negative numbers are rounded too far toward zero,
 * because `half` is added to them, too. Intermediate results are 64-bit integers. From ten decimal places on, the scale
 * is the largest 32-bit integer.
 */
export function cutDigits(value: bigint | number, places: bigint | number, half: 0.5 | 0): bigint | number {
  // The power of ten is parsed from text because `10 ** -5` is inexact.
  const power = Number(`1e${places}`)
  if (places > 0) {
    if (typeof value === 'bigint') return value
    const scale = Math.min(power, intMax)
    const whole = cutToLong(value)
    return whole + cutToLong((value - whole + half / scale) * scale) / scale
  }
  const cut = cutToLong(Number(value) * power + half) / power
  if (typeof value === 'bigint') return toLong(cut)
  return half === 0 ? cut : cutToLong(cut)
}
