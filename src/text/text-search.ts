// Substring search. In the worst case, the time of `indexOf` is proportional to the product of the lengths of text and
// needle (the string to find). Therefore long needles are searched with the algorithm of Knuth, Morris and Pratt (KMP),
// whose time is proportional to the sum of the lengths.

import { longCall, step } from '../base/effort.ts'
import { codePointLength, codePointsBetween, unitOffset } from './code-points.ts'

/** Up to this length of the needle, the worst case of `indexOf` is fast enough. */
const shortNeedle = 64

/** UTF-16 units between two calls of `step`, which counts the effort of a query. */
const unitsPerCount = 4096

export class TextSearch {
  readonly #needle: string
  /**
   * The failure function of KMP, computed at first use: for each prefix of the needle, the length of its longest
   * border. A border is a proper prefix that is also a suffix.
   */
  #borders: Int32Array | undefined

  constructor(needle: string) {
    this.#needle = needle
  }

  /** The first occurrence at or after `from`, or -1. Offsets are UTF-16 units. */
  firstIn(text: string, from: number): number {
    const units = text.length - from
    if (this.#needle.length <= shortNeedle || units <= unitsPerCount) {
      const at = text.indexOf(this.#needle, from)
      step(1 + ((at < 0 ? units : at - from) >> 4))
      return at
    }
    this.#borders ??= bordersOf(this.#needle)
    return this.#search(text, from, this.#borders)
  }

  #search(text: string, from: number, borders: Int32Array): number {
    const needle = this.#needle
    let matched = 0
    for (let at = from; at < text.length; at++) {
      if (at % unitsPerCount === 0) step(unitsPerCount >> 2)
      const unit = text.charCodeAt(at)
      while (matched > 0 && unit !== needle.charCodeAt(matched)) matched = borders[matched - 1] as number
      if (unit === needle.charCodeAt(matched)) matched++
      if (matched === needle.length) return at + 1 - matched
    }
    return -1
  }
}

/** The first occurrence at or after `from`, or -1. Offsets are UTF-16 units. */
export function indexOfText(text: string, needle: string, from = 0): number {
  if (needle.length <= shortNeedle) longCall(text.length - from)
  return new TextSearch(needle).firstIn(text, from)
}

function bordersOf(needle: string): Int32Array {
  const borders = new Int32Array(needle.length)
  let border = 0
  for (let at = 1; at < needle.length; at++) {
    if (at % unitsPerCount === 0) step(unitsPerCount >> 2)
    const unit = needle.charCodeAt(at)
    while (border > 0 && unit !== needle.charCodeAt(border)) border = borders[border - 1] as number
    if (unit === needle.charCodeAt(border)) border++
    borders[at] = border
  }
  return borders
}

/** The start in code points; 0 if it is outside of the text. */
export function searchStart(start: bigint | undefined, text: string): number {
  if (start === undefined || start <= 0n || start >= BigInt(text.length)) return 0
  const offset = Number(start)
  return offset < codePointLength(text) ? offset : 0
}

/** The first occurrence at or after `start`, or -1. Offsets are code points. */
export function findText(text: string, find: string, start: bigint | undefined): number {
  const from = searchStart(start, text)
  const fromUnit = unitOffset(text, from)
  const at = indexOfText(text, find, fromUnit)
  return at < 0 ? -1 : from + codePointsBetween(text, fromUnit, at)
}
