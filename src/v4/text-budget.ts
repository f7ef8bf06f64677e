// What a query may do with text. A short query can double a text over and over, or search a long one over and over;
// so the text that a query makes has limits, and long texts cost more compute than the one unit of a call.

import { longCall } from '../base/effort.ts'
import { RequestError } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Call } from './definition.ts'

/** Counts text that a function is about to make, in UTF-16 units. Throws `bad request` past the limits. */
export function countText(call: Call, units: number): void {
  if (units > limits.textUnitsMax) throw tooMuchText(units, limits.textUnitsMax)
  const { session } = call
  session.textUnits += units
  if (session.textUnits > limits.textUnitsPerQueryMax) {
    throw tooMuchText(session.textUnits, limits.textUnitsPerQueryMax)
  }
  countScan(call, units)
}

/** Counts text that a function reads from end to end. Throws past the compute limit. */
export function countScan(call: Call, units: number): void {
  longCall(units)
  const cost = Math.floor(units / limits.textUnitsPerComputeUnit)
  if (cost > 0) call.session.compute(cost)
}

/** A text that a function has made, counted. */
export function counted(call: Call, text: string): string {
  countText(call, text.length)
  return text
}

/** A text that a function puts together from pieces, whose units are counted as they come. */
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

  /** The whole text, counted. */
  finish(): string {
    countText(this.#call, this.#units)
    return this.#pieces.join('')
  }
}

function tooMuchText(got: number, limit: number): RequestError {
  return new RequestError('bad request', `Transaction makes too much text: got ${got}, limit: ${limit}`)
}
