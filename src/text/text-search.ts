// Looking for one text in another. The runtime's search is fast on ordinary texts, but its time can grow with the product
// of both lengths; a long text is therefore looked for in a way (Knuth, Morris and Pratt) that reads each text once.

import { longCall, step } from '../base/effort.ts'

/** Up to this length of the searched text the runtime's worst case is bearable. */
const shortNeedle = 64

/** Units between two counts of steps. */
const unitsPerCount = 4096

/** A text to look for, perhaps many times. */
export class TextSearch {
  readonly #needle: string
  /** For each length of a beginning of the needle, that of its longest beginning that ends there too; when needed. */
  #borders: Int32Array | undefined

  constructor(needle: string) {
    this.#needle = needle
  }

  /** Where the text is first found at or behind an offset in UTF-16 units; -1 when it is not. */
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

/** Where a text first contains another, at or behind an offset in UTF-16 units; -1 when it does not. */
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
