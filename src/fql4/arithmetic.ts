// The arithmetic of the language on integers and doubles. Integers have 64 bits and wrap around. If any operand is a
// double, the result is a double.

import { javaDoubleText } from '../values/double-text.ts'
import { int64Max, int64Min } from '../values/value.ts'

/** A number of the language: an integer or a double. */
export type Num = bigint | number

/** Returns the low 64 bits of an integer as a signed integer. */
export function wrap(integer: bigint): bigint {
  return BigInt.asIntN(64, integer)
}

/**
 * Combines a function for integers and a function for doubles into one operation on numbers. Wraps integer results to
 * 64 bits.
 */
export function arithmetic(
  integers: (left: bigint, right: bigint) => bigint,
  doubles: (left: number, right: number) => number,
): (left: Num, right: Num) => Num {
  return (left, right) =>
    typeof left === 'bigint' && typeof right === 'bigint'
      ? wrap(integers(left, right))
      : doubles(Number(left), Number(right))
}

/** Adds two numbers. */
export const add: (left: Num, right: Num) => Num = arithmetic(
  (left, right) => left + right,
  (left, right) => left + right,
)

/** Converts a double to a 64-bit integer as Java does: toward zero, clamped to the range, 0 for NaN. */
export function toLong(double: number): bigint {
  if (Number.isNaN(double)) return 0n
  if (double >= 2 ** 63) return int64Max
  return double <= -(2 ** 63) ? int64Min : BigInt(Math.trunc(double))
}

/** Like {@link toLong}, but returns a double: the double nearest to the integer. The result is never −0. */
export function cutToLong(double: number): number {
  if (Number.isNaN(double)) return 0
  return Math.max(-(2 ** 63), Math.min(2 ** 63, Math.trunc(double))) + 0
}

/** Converts a number to an integer. A double is converted by {@link toLong}. */
export function integerOf(value: Num): bigint {
  return typeof value === 'bigint' ? value : toLong(value)
}

/** Formats a number for messages. */
export function numberText(value: Num): string {
  return typeof value === 'bigint' ? String(value) : javaDoubleText(value)
}
