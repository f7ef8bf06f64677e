// Substring search. `indexOf` is fast on ordinary texts, but its worst case takes time proportional to the product of
// both lengths. Therefore a search for a long string uses the algorithm of Knuth, Morris and Pratt (KMP), which reads
// each text only once. The string to search for is called needle.

import { longCall, step } from '../base/effort.ts'
import { codePointLength, codePointsBetween, unitOffset } from './code-points.ts'

/** Needles up to this length are always searched with `indexOf`, because its worst case is fast enough for them. */
const shortNeedle = 64

/** The number of UTF-16 units that are processed between two calls of `step`. */
const unitsPerCount = 4096

/** Searches texts for one needle. */
export class TextSearch {
  readonly #needle: string
  /**
   * The failure function of KMP. For each prefix of the needle, it contains the length of the longest proper prefix
   * that is also a suffix of this prefix. Computed on first use.
   */
  #borders: Int32Array | undefined

  constructor(needle: string) {
    this.#needle = needle
  }

  /** Returns the first occurrence at or after `from`, as an offset in UTF-16 units; -1 if there is none. */
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

/** Returns the first occurrence of `needle` at or after `from`, in UTF-16 units; -1 if there is none. */
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

/** Returns the offset at which a search starts, in code points. If `start` is not in the text, returns 0. */
export function searchStart(start: bigint | undefined, text: string): number {
  if (start === undefined || start <= 0n || start >= BigInt(text.length)) return 0
  const offset = Number(start)
  return offset < codePointLength(text) ? offset : 0
}

/** Returns the first occurrence of `find` in `text` at or after `start`, in code points; -1 if there is none. */
export function findText(text: string, find: string, start: bigint | undefined): number {
  const from = searchStart(start, text)
  const fromUnit = unitOffset(text, from)
  const at = indexOfText(text, find, fromUnit)
  return at < 0 ? -1 : from + codePointsBetween(text, fromUnit, at)
}
