// Substring search. The runtime's search is fast on ordinary texts, but its worst case is the product of both lengths.
// So a long needle is searched with the algorithm of Knuth, Morris and Pratt, which reads each text once.

import { longCall, step } from '../base/effort.ts'
import { codePointLength, codePointsBetween, unitOffset } from './code-points.ts'

/** Up to this needle length the runtime's worst case is acceptable. */
const shortNeedle = 64

/** Number of units between two counts of steps. */
const unitsPerCount = 4096

/** A needle, for one or many searches. */
export class TextSearch {
  readonly #needle: string
  /**
   * The KMP failure function: for each prefix of the needle, the length of its longest proper border. Computed on
   * demand.
   */
  #borders: Int32Array | undefined

  constructor(needle: string) {
    this.#needle = needle
  }

  /** The first occurrence at or after an offset in UTF-16 units; -1 when there is none. */
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

/** The first occurrence of `needle` at or after an offset in UTF-16 units; -1 when there is none. */
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

/** The offset at which a search starts. A start outside the text means the beginning of the text. */
export function searchStart(start: bigint | undefined, text: string): number {
  if (start === undefined || start <= 0n || start >= BigInt(text.length)) return 0
  const offset = Number(start)
  return offset < codePointLength(text) ? offset : 0
}

/** The first occurrence of `find` in `text` at or after `start`, in code points; -1 when there is none. */
export function findText(text: string, find: string, start: bigint | undefined): number {
  const from = searchStart(start, text)
  const fromUnit = unitOffset(text, from)
  const at = indexOfText(text, find, fromUnit)
  return at < 0 ? -1 : from + codePointsBetween(text, fromUnit, at)
}
