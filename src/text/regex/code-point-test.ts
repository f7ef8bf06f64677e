// Tests membership of code points in character classes, for the backtracking engine.

import { mapKnown } from '../../values/known-characters.ts'
import type { CharacterClass } from './character-class.ts'
import type { CodePointSet } from './code-point-set.ts'
import { unicodeSet } from './unicode-property.ts'

/** Tests ASCII by a table and other code points by binary search. */
export class CodePointTest {
  readonly #set: CodePointSet
  readonly #negated: boolean
  readonly #foldsUnicode: boolean
  /** For each ASCII character: 1 for a member. */
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

  /** Like Java, tests the upper case of a letter, and the lower case of this upper case. */
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

/** The upper case of a letter, if it is a single character; else the letter. */
function upperCase(codePoint: number): number {
  return single(
    mapKnown(String.fromCodePoint(codePoint), text => text.toUpperCase()),
    codePoint,
  )
}

/** The lower case of a letter, if it is a single character; else the letter. */
function lowerCase(codePoint: number): number {
  return single(
    mapKnown(String.fromCodePoint(codePoint), text => text.toLowerCase()),
    codePoint,
  )
}

function single(text: string, otherwise: number): number {
  const codePoint = text.codePointAt(0) as number
  return text.length === (codePoint > 0xffff ? 2 : 1) ? codePoint : otherwise
}

/** Returns whether two code points are equal when case is ignored, for all alphabets or for ASCII only. */
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

/** The characters that `\b` treats as word characters. With flag `U` (`unicode`), they are the same as for `\w`. */
export function wordTest(unicode: boolean): CodePointTest {
  words ??= {
    plain: testOf('[_\\p{L}\\p{Nd}]'),
    unicode: testOf('[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]'),
  }
  return unicode ? words.unicode : words.plain
}

/** Non-spacing marks, and their base characters. */
export function markTests(): { readonly nonSpacing: CodePointTest; readonly base: CodePointTest } {
  marks ??= { nonSpacing: testOf('\\p{Mn}'), base: testOf('[\\p{L}\\p{Nd}]') }
  return marks
}
