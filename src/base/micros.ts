// Moments as the store keeps them: whole microseconds since the Unix epoch. Every number that becomes one is checked here,
// so a fraction, NaN or a number too large to be exact cannot get into a key or a commit.

import { assert } from './assert.ts'

declare const unit: unique symbol

/** A moment in microseconds since the Unix epoch, as a safe integer. Spans of time are plain numbers. */
export type Micros = number & { readonly [unit]: 'microseconds' }

/** A number as a moment. Throws when it is no safe integer. */
export function micros(number: number): Micros {
  assert(Number.isSafeInteger(number), 'times in the store are whole microseconds')
  return number as Micros
}

/** The moment nearest to a number of which nothing is known, such as one that a client has sent; NaN is none. */
export function nearestMicros(number: number): Micros {
  return micros(Math.round(Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, number))))
}

/** Before everything. */
export const epoch: Micros = micros(0)

/** Behind everything. */
export const endOfTime: Micros = micros(Number.MAX_SAFE_INTEGER)

declare global {
  /** The earliest and the latest of moments is one of them. */
  interface Math {
    max(first: Micros, ...others: Micros[]): Micros
    min(first: Micros, ...others: Micros[]): Micros
  }
}
