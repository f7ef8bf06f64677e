// The collation weights of all characters. The table is unpacked from collation-data.ts (made by
// scripts/derive-collation.ts) when the first non-ASCII string is compared, which takes a few milliseconds.
//
// A character has a sequence of elements, each with a weight on up to three levels:
//   letter   a primary weight, the secondary weight that all letters share, a tertiary weight (rank among its variants)
//   mark     no primary weight, a secondary weight above the weight of letters, a tertiary weight
// A contraction is a sequence of characters with its own elements, such as a Thai vowel with the following consonant,
// or U+0438 U+0306. A character that is not in the table (unassigned, private, lone surrogate) has its code point as an
// implicit primary weight, above the weights of all letters.

import { assert } from '../base/assert.ts'
import { composed, contractions, ignorable, letterRuns, marks, variants } from './collation-data.ts'

/** The lead byte (first byte) of implicit weights. All letters except U+FFFD have smaller lead bytes. */
export const implicitLead = 0xfd
const replacementCharacter = 0xfffd
const leadFirst = 0x02
/**
 * The number of lead bytes of three-byte weights. Letters after `z` get two-byte weights until only this number of lead
 * bytes is left.
 */
const wideLeads = 3

/**
 * Returns the primary weight of each letter (a code point, or a sequence of characters): the bytes of the weight, and
 * their number in the highest byte. ASCII letters get one byte. The letters between ASCII letters, and most letters
 * after `z`, get two bytes; the remaining letters (Han) get three bytes. No weight is a prefix of another weight, and
 * weights compare bytewise in the order of the letters. Zero is never a lead byte, because a zero byte ends a level.
 */
export function assignPrimaryCodes(letters: readonly (number | string)[]): Uint32Array {
  const codes = new Uint32Array(letters.length)
  let lead = leadFirst - 1
  let trail = 0x100
  let index = 0
  const firstWideLead = implicitLead - wideLeads
  for (; index < letters.length; index++) {
    const letter = letters[index]
    if (typeof letter === 'number' && letter < 0x80) {
      codes[index] = (1 << 24) | ++lead
      trail = 0x100
      continue
    }
    if (trail > 0xff) {
      if (lead + 1 >= firstWideLead) break
      lead++
      trail = 0
    }
    codes[index] = (2 << 24) | (lead << 8) | trail++
  }
  for (let wide = 0; index < letters.length; index++, wide++) {
    codes[index] = (3 << 24) | ((firstWideLead << 16) + wide)
  }
  assert(letters.length < wideLeads << 16, 'the wide leads hold all letters')
  if (letters[letters.length - 1] === replacementCharacter) {
    codes[letters.length - 1] = (1 << 24) | (implicitLead + 1)
  }
  return codes
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

const digitValues = new Uint8Array(128)
for (let value = 0; value < digits.length; value++) digitValues[digits.charCodeAt(value)] = value

/**
 * Data in source files has the form of base64 VLQ, the encoding of source maps. Each character has five bits and a
 * continuation bit; the lowest bit of a number is its sign. The integers have at most 26 bits.
 */
export function packNumbers(numbers: Iterable<number>): string {
  let packed = ''
  for (const number of numbers) {
    let rest = number < 0 ? (-number << 1) | 1 : number << 1
    for (; rest > 31; rest >>>= 5) packed += digits[(rest & 31) | 32]
    packed += digits[rest]
  }
  return packed
}

/** Decodes a result of {@link packNumbers}. */
export function unpackNumbers(packed: string): Int32Array {
  const numbers = new Int32Array(packed.length)
  let count = 0
  let value = 0
  let shift = 0
  for (let index = 0; index < packed.length; index++) {
    const digit = digitValues[packed.charCodeAt(index)] as number
    value |= (digit & 31) << shift
    shift += 5
    if (digit & 32) continue
    numbers[count++] = value & 1 ? -(value >>> 1) : value >>> 1
    value = 0
    shift = 0
  }
  return numbers.subarray(0, count)
}

/** The kind of an entry, in its two highest bits. The table has an entry for each character. */
export const entryKinds = {
  /** A constant of `specials`. */
  special: 0,
  letter: 1,
  mark: 2,
  /** The entry contains the number of elements in place of a rank, and the index of the first element in the pool. */
  several: 3,
} as const

/**
 * The entries of kind `special`: the character is not in the table, has no weight, or is decomposed by normalization.
 */
export const specials = { unknown: 0, ignorable: 1, composed: 2 } as const

/**
 * The bits of an element, or of an entry with one element: kind (2), start of a contraction (1), tertiary rank (8),
 * index (21).
 */
const kindShift = 30
const contractionBit = 1 << 29
const rankShift = 21
const indexMask = (1 << rankShift) - 1
const rankMask = 0xff

const pageBits = 8
const pageSize = 1 << pageBits

export class CollationTable {
  readonly #pages: (Uint32Array | undefined)[] = new Array(0x110000 >> pageBits).fill(undefined)
  /** The elements of all characters that have several elements. */
  readonly #pool: number[] = []
  readonly #contractions = new Map<string, Uint32Array>()
  #contractionMax = 0
  /** The primary weights of all letters, as {@link assignPrimaryCodes} returns them. */
  readonly primaryCodes: Uint32Array

  constructor() {
    const letters = unpackRuns(letterRuns)
    this.primaryCodes = assignPrimaryCodes(letters)
    for (let index = 0; index < letters.length; index++) {
      this.#define(letters[index] as Text, [pack(entryKinds.letter, index, 0)])
    }
    for (const [index, text] of unpackRuns(marks).entries()) {
      this.#define(text, [pack(entryKinds.mark, index, 0)])
    }
    for (const text of unpackRuns(ignorable)) this.#define(text, [specials.ignorable])
    for (const text of unpackRuns(composed)) this.#define(text, [specials.composed])
    for (const [text, elements] of unpackElements(variants)) this.#define(text, elements)
    for (const [text, elements] of unpackElements(contractions)) this.#define(text, elements)
  }

  /** `point` is a code point. */
  entry(point: number): number {
    const page = this.#pages[point >> pageBits]
    return page === undefined ? specials.unknown : (page[point & (pageSize - 1)] as number)
  }

  /** Returns the element at an index of the pool. Entries of kind `several` contain such an index. */
  pooled(index: number): number {
    return this.#pool[index] as number
  }

  /** Returns the longest contraction that begins at `start`. Returns undefined if no contraction begins there. */
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

  #defineContraction(text: string, elements: readonly number[]): void {
    const point = text.codePointAt(0) as number
    this.#contractions.set(text, Uint32Array.from(elements))
    this.#contractionMax = Math.max(this.#contractionMax, text.length)
    this.#set(point, this.entry(point) | contractionBit)
  }

  contraction(text: string): Uint32Array | undefined {
    return this.#contractions.get(text)
  }

  #set(point: number, entry: number): void {
    const page = this.#pages[point >> pageBits] ?? new Uint32Array(pageSize)
    this.#pages[point >> pageBits] = page
    const kept = (page[point & (pageSize - 1)] as number) & contractionBit
    page[point & (pageSize - 1)] = entry | kept
  }
}

export function kindOf(entry: number): number {
  return entry >>> kindShift
}

/** Returns whether a contraction may begin with the character of this entry. */
export function beginsContraction(entry: number): boolean {
  return (entry & contractionBit) !== 0
}

/** Equal to one of `specials` if the entry is of this kind. */
export function specialOf(entry: number): number {
  return entry & ~contractionBit
}

/** The index of the element's letter or mark. */
export function indexOf(element: number): number {
  return element & indexMask
}

/** The rank of an element among the variants of its letter or mark; 0 is the base form. */
export function rankOf(element: number): number {
  return (element >>> rankShift) & rankMask
}

/** The number of elements of an entry of the kind `several`. */
export const elementCountOf = rankOf

function pack(kind: number, index: number, rank: number): number {
  return ((kind << kindShift) | (rank << rankShift) | index) >>> 0
}

/** A code point, or a sequence of several characters. */
type Text = number | string

/** Reads the format that collation-data.ts describes. */
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
    const counts = numbers[at++] as number
    const more = counts & 7
    const text = more > 0 ? String.fromCodePoint(point, ...numbers.subarray(at, at + more)) : point
    at += more
    const elements: number[] = []
    for (let left = counts >> 3; left > 0; left--) {
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
