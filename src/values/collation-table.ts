// The collation weights of all characters. The table is unpacked from collation-data.ts when the first non-ASCII string
// is compared, which takes a few milliseconds. scripts/derive-collation.ts derives the data.
//
// A character has a sequence of elements, each with a weight on up to three levels:
//   letter   a primary weight, the common secondary weight, a tertiary weight (its rank among its variants)
//   mark     no primary weight, a secondary weight above the common one, a tertiary weight
// Some sequences of characters (contractions, such as Thai vowels with the consonant they precede, or U+0438 U+0306)
// have their own elements. Characters that are not in the table (unassigned, private, lone surrogates) have their code
// point as an implicit primary weight, above all letters.

import { assignPrimaryCodes } from './collation-codes.ts'
import { composed, contractions, ignorable, letterRuns, marks, variants } from './collation-data.ts'
import { unpackNumbers } from './packed-numbers.ts'

/** The kind of an entry, in its two highest bits. */
export const entryKinds = {
  /** A constant of `specials`. */
  special: 0,
  letter: 1,
  mark: 2,
  /** Several elements: the entry contains their position and number in the pool. */
  several: 3,
} as const

/** Entries of kind `special`. */
export const specials = { unknown: 0, ignorable: 1, composed: 2 } as const

/**
 * The bits of an element, or of an entry with one element: kind (2 bits), starts a contraction (1), tertiary rank (8),
 * index (21).
 */
const kindShift = 30
const starterBit = 1 << 29
const rankShift = 21
const indexMask = (1 << rankShift) - 1
const rankMask = 0xff

const pageBits = 8
const pageSize = 1 << pageBits

/** The table in the form from which sort keys are computed. */
export class CollationTable {
  readonly #pages: (Uint32Array | undefined)[] = new Array(0x110000 >> pageBits).fill(undefined)
  readonly #pool: number[] = []
  readonly #contractions = new Map<string, Uint32Array>()
  #contractionMax = 0
  /** For each letter the bytes of its primary weight and, in the highest byte, their number. */
  readonly primaryCodes: Uint32Array

  constructor() {
    const letters = unpackRuns(letterRuns)
    this.primaryCodes = assignPrimaryCodes(letters)
    for (let index = 0; index < letters.length; index++) {
      this.#defineOne(letters[index] as Text, pack(entryKinds.letter, index, 0))
    }
    for (const [index, text] of unpackRuns(marks).entries()) {
      this.#defineOne(text, pack(entryKinds.mark, index, 0))
    }
    for (const text of unpackRuns(ignorable)) this.#defineOne(text, specials.ignorable)
    for (const text of unpackRuns(composed)) this.#defineOne(text, specials.composed)
    for (const [text, elements] of unpackElements(variants)) this.#define(text, elements)
    for (const [text, elements] of unpackElements(contractions)) this.#define(text, elements)
  }

  /** The entry of a code point. */
  entry(point: number): number {
    const page = this.#pages[point >> pageBits]
    return page === undefined ? specials.unknown : (page[point & (pageSize - 1)] as number)
  }

  /** An element in the pool, to which entries of kind `several` point. */
  pooled(place: number): number {
    return this.#pool[place] as number
  }

  /** The longest contraction that begins at `start`, if any. */
  contractionAt(
    text: string,
    start: number,
  ): { readonly elements: Uint32Array; readonly end: number } | undefined {
    const limit = Math.min(text.length, start + this.#contractionMax)
    for (let end = limit; end > start + 1; end--) {
      const elements = this.#contractions.get(text.slice(start, end))
      if (elements) return { elements, end }
    }
    return undefined
  }

  #define(text: Text, elements: readonly number[]): void {
    const [only] = elements
    if (typeof text === 'string') this.#defineContraction(text, elements)
    else if (only !== undefined && elements.length === 1) this.#set(text, only)
    else {
      this.#set(text, pack(entryKinds.several, this.#pool.length, elements.length))
      this.#pool.push(...elements)
    }
  }

  #defineOne(text: Text, entry: number): void {
    if (typeof text === 'string') this.#defineContraction(text, [entry])
    else this.#set(text, entry)
  }

  #defineContraction(text: string, elements: readonly number[]): void {
    const point = text.codePointAt(0) as number
    this.#contractions.set(text, Uint32Array.from(elements))
    this.#contractionMax = Math.max(this.#contractionMax, text.length)
    this.#set(point, this.entry(point) | starterBit)
  }

  /** The elements of the contraction with exactly this text, if any. */
  contraction(text: string): Uint32Array | undefined {
    return this.#contractions.get(text)
  }

  #set(point: number, entry: number): void {
    const page = this.#pages[point >> pageBits] ?? new Uint32Array(pageSize)
    this.#pages[point >> pageBits] = page
    const kept = (page[point & (pageSize - 1)] as number) & starterBit
    page[point & (pageSize - 1)] = entry | kept
  }
}

/** The kind of an entry or element. */
export function kindOf(entry: number): number {
  return entry >>> kindShift
}

/** Returns whether a contraction may begin here. */
export function isStarter(entry: number): boolean {
  return (entry & starterBit) !== 0
}

/** A special entry without its starter bit. */
export function specialOf(entry: number): number {
  return entry & ~starterBit
}

/** The index of the letter or mark of an element. */
export function indexOf(element: number): number {
  return element & indexMask
}

/** The rank of an element among the variants of its letter or mark; 0 is the base form. */
export function rankOf(element: number): number {
  return (element >>> rankShift) & rankMask
}

function pack(kind: number, index: number, rank: number): number {
  return ((kind << kindShift) | (rank << rankShift) | index) >>> 0
}

/** A code point, or a sequence of several characters. */
type Text = number | string

/** Runs of consecutive characters, and sequences of several characters (format: collation-data.ts). */
function unpackRuns(packed: string): Text[] {
  const numbers = unpackNumbers(packed)
  const texts: Text[] = []
  let next = 0
  for (let at = 0; at < numbers.length; ) {
    next += numbers[at++] as number
    const count = numbers[at++] as number
    if (count < 0) {
      texts.push(String.fromCodePoint(next++, ...numbers.subarray(at, at - count)))
      at -= count
    } else {
      for (let left = count; left >= 0; left--) texts.push(next++)
    }
  }
  return texts
}

function unpackElements(packed: string): [Text, number[]][] {
  const numbers = unpackNumbers(packed)
  const entries: [Text, number[]][] = []
  let point = 0
  let index = 0
  for (let at = 0; at < numbers.length; ) {
    point += numbers[at++] as number
    const shape = numbers[at++] as number
    const more = shape & 7
    const text = more > 0 ? String.fromCodePoint(point, ...numbers.subarray(at, at + more)) : point
    at += more
    const elements: number[] = []
    for (let left = shape >> 3; left > 0; left--) {
      const kindAndRank = numbers[at++] as number
      const rank = kindAndRank >> 1
      if (kindAndRank & 1) elements.push(pack(entryKinds.mark, numbers[at++] as number, rank))
      else {
        index += numbers[at++] as number
        elements.push(pack(entryKinds.letter, index, rank))
      }
    }
    entries.push([text, elements])
  }
  return entries
}
