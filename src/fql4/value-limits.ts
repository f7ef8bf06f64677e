// Limits on the values that a query creates. A value that is too large for a response is rejected at its creation. A
// short query can double a text repeatedly, or search a long text repeatedly. Therefore the total length of created
// texts is limited, and calls with long texts cost additional compute units.

import { longCall } from '../base/effort.ts'
import { limits } from '../base/limits.ts'
import { msg } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import { extentOf } from '../values/extent.ts'
import type { Value } from '../values/value.ts'
import type { Call } from './definition.ts'

const textLimits = {
  /** Maximum number of UTF-16 units in all texts that a query creates; own limit. */
  textUnitsPerQueryMax: 67_108_864,
  /** Number of UTF-16 units of a read or created text that cost one additional compute unit; own limit. */
  textUnitsPerComputeUnit: 4096,
} as const

/** Throws `bad request` if the value contains more than `max` values and characters together. */
export function requireExtent<T extends Value>(value: T, max: number = limits.valueUnitsMax): T {
  const extent = extentOf(value)
  if (extent <= max) return value
  throw new RequestError(
    'bad request',
    msg`Value is too large: got ${extent} values and characters, limit: ${max}.`,
  )
}

/**
 * Call before creating a text of `units` UTF-16 units. Throws `bad request` if the text is too long, or if the total
 * length of the query's texts is too long.
 */
export function countText(call: Call, units: number): void {
  if (units > limits.textUnitsMax) throw tooMuchText(units, limits.textUnitsMax)
  const { session } = call
  session.textUnits += units
  if (session.textUnits > textLimits.textUnitsPerQueryMax) {
    throw tooMuchText(session.textUnits, textLimits.textUnitsPerQueryMax)
  }
  countScan(call, units)
}

/** Counts a text of `units` UTF-16 units that a function reads. Throws if the query exceeds its compute limit. */
export function countScan(call: Call, units: number): void {
  longCall(units)
  const cost = Math.floor(units / textLimits.textUnitsPerComputeUnit)
  if (cost > 0) call.session.compute(cost)
}

export function countedText(call: Call, text: string): string {
  countText(call, text.length)
  return text
}

/** Concatenates pieces, and checks with each piece whether the text becomes too long. */
export class CountedText {
  readonly #call: Call
  readonly #pieces: string[] = []
  #units = 0

  constructor(call: Call) {
    this.#call = call
  }

  /** Throws `bad request` if the text is too long. */
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
