// Limits on the values that a query creates. A value that is too large to be written out is rejected when it is
// created. A short query can double a text repeatedly, or search a long text repeatedly. So the total of created text
// is limited, and long texts cost more than the one compute unit of a call.

import { longCall } from '../base/effort.ts'
import { limits } from '../base/limits.ts'
import { msg } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import { extentOf } from '../values/extent.ts'
import type { Value } from '../values/value.ts'
import type { Call } from './definition.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
const valueLimitsLimits = {
  /** UTF-16 units of all texts that a query creates; own limit. */
  textUnitsPerQueryMax: 67_108_864,
  /** UTF-16 units of long texts, read or created, that count as one additional evaluated unit; own limit. */
  textUnitsPerComputeUnit: 4096,
} as const

/** Returns a newly constructed value. Throws `bad request` if the value is too large to be written out. */
export function requireExtent<T extends Value>(value: T, max: number = limits.valueUnitsMax): T {
  const extent = extentOf(value)
  if (extent <= max) return value
  throw new RequestError(
    'bad request',
    msg`Value is too large: got ${extent} values and characters, limit: ${max}.`,
  )
}

/**
 * Counts a text of `units` UTF-16 units before the text is created. Throws `bad request` if this text is too long, or
 * if all texts of the query together are too long.
 */
export function countText(call: Call, units: number): void {
  if (units > limits.textUnitsMax) throw tooMuchText(units, limits.textUnitsMax)
  const { session } = call
  session.textUnits += units
  if (session.textUnits > valueLimitsLimits.textUnitsPerQueryMax) {
    throw tooMuchText(session.textUnits, valueLimitsLimits.textUnitsPerQueryMax)
  }
  countScan(call, units)
}

/** Counts a text of `units` UTF-16 units that a function reads. Throws if the query exceeds its compute limit. */
export function countScan(call: Call, units: number): void {
  longCall(units)
  const cost = Math.floor(units / valueLimitsLimits.textUnitsPerComputeUnit)
  if (cost > 0) call.session.compute(cost)
}

/** Counts a created text and returns it. */
export function counted(call: Call, text: string): string {
  countText(call, text.length)
  return text
}

/** A text assembled from pieces. The length is checked when a piece is added. */
export class CountedText {
  readonly #call: Call
  readonly #pieces: string[] = []
  #units = 0

  constructor(call: Call) {
    this.#call = call
  }

  /** Throws `bad request` when the text is too long. */
  add(piece: string): void {
    this.#units += piece.length
    if (this.#units > limits.textUnitsMax) countText(this.#call, this.#units)
    this.#pieces.push(piece)
  }

  /** Counts and returns the whole text. */
  finish(): string {
    countText(this.#call, this.#units)
    return this.#pieces.join('')
  }
}

function tooMuchText(got: number, limit: number): RequestError {
  return new RequestError('bad request', msg`Transaction makes too much text: got ${got}, limit: ${limit}`)
}
