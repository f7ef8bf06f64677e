// The arithmetic of the language on integers and doubles. Integers have 64 bits and wrap around. If any operand is a
// double, the result is a double.

import { javaDoubleText } from '../values/double-text.ts'
import { toLong } from '../values/java-math.ts'

export type Num = bigint | number

/** Returns the low 64 bits of an integer as a signed integer. */
export function wrap(integer: bigint): bigint {
  return BigInt.asIntN(64, integer)
}

export function arithmetic(
  integers: (left: bigint, right: bigint) => bigint,
  doubles: (left: number, right: number) => number,
): (left: Num, right: Num) => Num {
  return (left, right) =>
    typeof left === 'bigint' && typeof right === 'bigint'
      ? wrap(integers(left, right))
      : doubles(Number(left), Number(right))
}

export const add: (left: Num, right: Num) => Num = arithmetic(
  (left, right) => left + right,
  (left, right) => left + right,
)

/** {@link toLong} converts doubles. */
export function integerOf(value: Num): bigint {
  return typeof value === 'bigint' ? value : toLong(value)
}

export function numberText(value: Num): string {
  return typeof value === 'bigint' ? String(value) : javaDoubleText(value)
}
