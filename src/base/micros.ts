// The times of the store: whole microseconds since the Unix epoch. Every number is checked here before it becomes a
// time, so fractions, NaN and numbers too large to be exact cannot enter a key or a commit.

import { assert } from './assert.ts'

declare const unit: unique symbol

/** A safe integer. Durations are plain numbers. */
export type Micros = number & { readonly [unit]: 'microseconds' }

/** Throws an `InvariantError` if the number is not a safe integer. */
export function micros(number: number): Micros {
  assert(Number.isSafeInteger(number), 'times in the store are whole microseconds')
  return number as Micros
}

/** Accepts an unchecked number, such as a number from a client. NaN throws an `InvariantError`. */
export function nearestMicros(number: number): Micros {
  return micros(Math.round(Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, number))))
}

/** Earlier than every commit. */
export const epoch: Micros = micros(0)

/** Later than every commit. */
export const endOfTime: Micros = micros(Number.MAX_SAFE_INTEGER)

declare global {
  /** The minimum and the maximum of values of the type `Micros` also have this type. */
  interface Math {
    max(first: Micros, ...others: Micros[]): Micros
    min(first: Micros, ...others: Micros[]): Micros
  }
}

export const secondsPerDay = 86_400
export const msPerDay = 86_400_000
export const microsPerDay = 86_400_000_000
