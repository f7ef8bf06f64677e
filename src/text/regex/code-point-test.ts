// Tests for the backtracking engine whether a character class contains a code point.

import { mapKnown } from '../../values/known-characters.ts'
import type { CharacterClass } from './character-class.ts'
import type { CodePointSet } from './code-point-set.ts'
import { unicodeSet } from './unicode-property.ts'

/** Uses a table for ASCII, and a binary search for other code points. */
export class CodePointTest {
  readonly #set: CodePointSet
  readonly #negated: boolean
  readonly #foldsUnicode: boolean
  /** 1 for each ASCII character in the class, 0 for the others. */
  readonly #ascii = new Uint8Array(128)

  constructor({ negated, set }: CharacterClass, foldsUnicode: boolean) {
    this.#set = set
    this.#negated = negated
    this.#foldsUnicode = foldsUnicode
    for (let codePoint = 0; codePoint < 128; codePoint++)
      this.#ascii[codePoint] = this.#find(codePoint) ? 1 : 0
  }

  has(codePoint: number): boolean {
    return codePoint < 128 ? this.#ascii[codePoint] === 1 : this.#find(codePoint)
  }

  #find(codePoint: number): boolean {
    const found = includes(this.#set, codePoint) || (this.#foldsUnicode && this.#hasOtherCase(codePoint))
    return found !== this.#negated
  }

  /** Like Java, tests the upper case, and the lower case of the upper case. */
  #hasOtherCase(codePoint: number): boolean {
    const upper = upperCase(codePoint)
    return includes(this.#set, upper) || includes(this.#set, lowerCase(upper))
  }
}

function includes(set: CodePointSet, codePoint: number): boolean {
  let low = 0
  let high = set.length / 2
  while (low < high) {
    const middle = (low + high) >> 1
    if ((set[middle * 2 + 1] as number) < codePoint) low = middle + 1
    else high = middle
  }
  return low * 2 < set.length && (set[low * 2] as number) <= codePoint
}

const upperCase = (codePoint: number) => mapped(codePoint, text => text.toUpperCase())
const lowerCase = (codePoint: number) => mapped(codePoint, text => text.toLowerCase())

/** Returns the code point itself if its mapping has several characters. */
function mapped(codePoint: number, map: (text: string) => string): number {
  const text = mapKnown(String.fromCodePoint(codePoint), map)
  const first = text.codePointAt(0) as number
  return text.length === (first > 0xffff ? 2 : 1) ? first : codePoint
}

/** If `unicode` is false, ignores only the case of ASCII letters. */
export function equalsInEitherCase(left: number, right: number, unicode: boolean): boolean {
  if (left === right) return true
  if (!unicode) return asciiLower(left) === asciiLower(right)
  const leftUpper = upperCase(left)
  const rightUpper = upperCase(right)
  return leftUpper === rightUpper || lowerCase(leftUpper) === lowerCase(rightUpper)
}

function asciiLower(codePoint: number): number {
  return codePoint >= 0x41 && codePoint <= 0x5a ? codePoint + 0x20 : codePoint
}

const testOf = (expression: string) =>
  new CodePointTest({ set: unicodeSet(expression), negated: false }, false)

let words: { readonly plain: CodePointTest; readonly unicode: CodePointTest } | undefined
let marks: { readonly nonSpacing: CodePointTest; readonly base: CodePointTest } | undefined

/** The word characters of `\b`. `unicode` is true with flag `U`. */
export function wordTest(unicode: boolean): CodePointTest {
  words ??= {
    plain: testOf('[_\\p{L}\\p{Nd}]'),
    unicode: testOf('[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]'),
  }
  return unicode ? words.unicode : words.plain
}

/** Returns the tests for non-spacing marks and for their base characters. */
export function markTests(): { readonly nonSpacing: CodePointTest; readonly base: CodePointTest } {
  marks ??= { nonSpacing: testOf('\\p{Mn}'), base: testOf('[\\p{L}\\p{Nd}]') }
  return marks
}
