// The order of strings: Unicode root collation (CLDR root, punctuation not ignored, three levels), then UTF-8 bytes.
//
// The order of strings is the order of the bytes of their sort keys: the primary weights, 00, the secondary weights,
// 00, the tertiary weights, 00, and the text in UTF-8. Common weights at the end of the second and third level are
// omitted, so the key of a lower-case ASCII text has none of them. The weights come from the table in
// collation-table.ts, never from the runtime, so an upgrade of Node does not change the order. The runtime is used only
// for Unicode normalization, which is stable for all characters in the table, and for the class `\p{M}`, which only ends a
// search early.
//
// FQL also requires that each prefix of a string sorts before the string. This rule contradicts the collation, which
// Terrarium follows: for example, the string U+0E40 U+0E01 sorts before its prefix U+0E40. The two rules differ only
// for contractions: sequences of characters that have weights of their own. Examples are Thai and Lao vowels written
// before their consonant, and Indic vowels in two parts.
//
// A test compares the order of random strings of every script with the runtime's collator
// (tests/unit/values/collation.test.ts). There are three known differences, all for rare sequences of Tibetan vowel
// signs, combining marks or ligatures.

import { step } from '../base/effort.ts'
import { ByteWriter } from './byte-writer.ts'
import { asciiPrimaries, asciiTertiaries } from './collation-ascii.ts'
import {
  beginsContraction,
  CollationTable,
  elementCountOf,
  entryKinds,
  implicitLead,
  indexOf,
  kindOf,
  rankOf,
  specialOf,
  specials,
} from './collation-table.ts'
import { movesBefore, normalize } from './normalize.ts'

const levelEnd = 0x00
const commonSecondary = 0x01
const commonTertiary = 0x01
const highestLead = 0xff

/** Negative, zero (only for equal strings) or positive. */
export function compareStrings(left: string, right: string): number {
  step(1 + (Math.min(left.length, right.length) >> 3))
  if (left === right) return 0
  const order = compareAscii(left, right)
  if (order !== undefined) return order
  const start = commonStart(left, right)
  return compareSortKeys(left.slice(start), right.slice(start))
}

/**
 * Returns the length of the longest common prefix after which each string ends or continues with an ASCII character.
 * The characters of this prefix do not affect the weights of the characters after it.
 */
function commonStart(left: string, right: string): number {
  const limit = Math.min(left.length, right.length)
  let start = 0
  while (start < limit && left.charCodeAt(start) === right.charCodeAt(start)) start++
  while (start > 0 && !(startsAscii(left, start) && startsAscii(right, start))) start--
  return start
}

function startsAscii(text: string, index: number): boolean {
  return index === text.length || text.charCodeAt(index) < 0x80
}

/**
 * Appends the three levels with their terminators. The caller then appends the text in UTF-8, which determines the
 * order of strings with equal weights.
 */
export function appendSortKey(writer: ByteWriter, text: string): void {
  step(text.length >> 3)
  if (appendAsciiKey(writer, text)) return
  new KeyBuilder(writer).append(text)
}

/**
 * Returns undefined if a character up to the first difference of primary weights, or the next one, is not ASCII. The
 * next character may change the weight of the character at the difference.
 */
function compareAscii(left: string, right: string): number | undefined {
  let tertiary = 0
  let i = 0
  let j = 0
  for (;;) {
    let a = 0
    let b = 0
    let unitA = 0
    let unitB = 0
    while (a === 0 && i < left.length) {
      unitA = left.charCodeAt(i++)
      if (unitA >= 0x80) return undefined
      a = asciiPrimaries[unitA] as number
    }
    while (b === 0 && j < right.length) {
      unitB = right.charCodeAt(j++)
      if (unitB >= 0x80) return undefined
      b = asciiPrimaries[unitB] as number
    }
    if (a !== b) return startsAscii(left, i) && startsAscii(right, j) ? a - b : undefined
    if (a === 0) break
    if (tertiary === 0 && unitA !== unitB) {
      tertiary = (asciiTertiaries[unitA] as number) - (asciiTertiaries[unitB] as number)
    }
  }
  return tertiary !== 0 ? tertiary : left < right ? -1 : 1
}

const leftKey = new ByteWriter()
const rightKey = new ByteWriter()

function compareSortKeys(left: string, right: string): number {
  appendSortKey(leftKey.reset(), left)
  appendSortKey(rightKey.reset(), right)
  leftKey.utf8(left)
  rightKey.utf8(right)
  const length = Math.min(leftKey.length, rightKey.length)
  for (let index = 0; index < length; index++) {
    const difference = (leftKey.bytes[index] as number) - (rightKey.bytes[index] as number)
    if (difference !== 0) return difference
  }
  return leftKey.length - rightKey.length
}

function appendAsciiKey(writer: ByteWriter, text: string): boolean {
  const start = writer.length
  writer.reserve(2 * text.length + 3)
  const { bytes } = writer
  let end = start
  let tertiaryEnd = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit >= 0x80) return false
    const primary = asciiPrimaries[unit] as number
    if (primary === 0) continue
    bytes[end++] = primary
    if (asciiTertiaries[unit] !== commonTertiary) tertiaryEnd = end - start
  }
  bytes[end++] = levelEnd
  bytes[end++] = levelEnd
  for (let index = 0, weights = 0; weights < tertiaryEnd; index++) {
    const unit = text.charCodeAt(index)
    if (asciiPrimaries[unit] === 0) continue
    bytes[end++] = asciiTertiaries[unit] as number
    weights++
  }
  bytes[end++] = levelEnd
  writer.length = end
  return true
}

let loadedTable: CollationTable | undefined

function table(): CollationTable {
  loadedTable ??= new CollationTable()
  return loadedTable
}

const secondaries = new ByteWriter()
const tertiaries = new ByteWriter()

/** Builds the keys of strings that are not ASCII. */
class KeyBuilder {
  readonly #writer: ByteWriter
  readonly #table = table()
  /** The lengths without the common weights at the end of the level. */
  #secondaryEnd = 0
  #tertiaryEnd = 0

  constructor(writer: ByteWriter) {
    this.#writer = writer
  }

  append(text: string): void {
    secondaries.reset()
    tertiaries.reset()
    this.#appendText(text)
    const writer = this.#writer
    writer.u8(levelEnd)
    writer.append(secondaries.bytes.subarray(0, this.#secondaryEnd))
    writer.u8(levelEnd)
    writer.append(tertiaries.bytes.subarray(0, this.#tertiaryEnd))
    writer.u8(levelEnd)
  }

  /**
   * Normalizes only the parts between unknown characters (which are not in the table): a newer runtime may normalize an
   * unknown character differently, and the key must not change.
   */
  #appendText(text: string): void {
    let start = 0
    for (let index = 0; index < text.length; ) {
      const point = text.codePointAt(index) as number
      const next = index + (point > 0xffff ? 2 : 1)
      if (specialOf(this.#table.entry(point)) === specials.unknown) {
        this.#appendKnown(text.slice(start, index))
        this.#appendUnknown(point)
        start = next
      }
      index = next
    }
    this.#appendKnown(text.slice(start))
  }

  #appendKnown(part: string): void {
    const text = normalize(part, 'NFD')
    for (let index = 0; index < text.length; ) {
      step()
      const point = text.codePointAt(index) as number
      const entry = this.#table.entry(point)
      const next = index + (point > 0xffff ? 2 : 1)
      const contraction = beginsContraction(entry) ? this.#table.contractionAt(text, index) : undefined
      if (contraction) {
        for (const element of contraction.elements) this.#appendElement(element)
        index = contraction.end
        continue
      }
      const afterSplit = beginsContraction(entry)
        ? this.#appendSplitContraction(text, index, next)
        : undefined
      if (afterSplit === undefined) this.#appendEntry(entry)
      index = afterSplit ?? next
    }
  }

  /**
   * Handles a contraction of a character and a mark with other marks in between, an order that normalization may
   * produce. Appends the elements of the contraction, then those of the other marks. Returns the position after all
   * these marks, or undefined if there is no such contraction.
   */
  #appendSplitContraction(text: string, start: number, next: number): number | undefined {
    let index = next
    for (let skipped = 0; skipped <= skippedMarksMax; skipped++) {
      step()
      const point = text.codePointAt(index)
      if (point === undefined || point < firstCombining) return undefined
      const mark = String.fromCodePoint(point)
      if (!combining.test(mark)) return undefined
      const others = text.slice(next, index)
      const elements = others === '' ? undefined : this.#table.contraction(text.slice(start, next) + mark)
      if (elements && [...others].every(other => movesBefore(other, mark))) {
        for (const element of elements) this.#appendElement(element)
        for (const other of others) this.#appendEntry(this.#table.entry(other.codePointAt(0) as number))
        return index + mark.length
      }
      index += mark.length
    }
    return undefined
  }

  #appendEntry(entry: number): void {
    const kind = kindOf(entry)
    if (kind === entryKinds.several) {
      const first = indexOf(entry)
      const end = first + elementCountOf(entry)
      for (let at = first; at < end; at++) this.#appendElement(this.#table.pooled(at))
    } else if (kind !== entryKinds.special) this.#appendElement(entry)
  }

  #appendElement(element: number): void {
    if (kindOf(element) === entryKinds.letter) {
      const code = this.#table.primaryCodes[indexOf(element)] as number
      const length = code >>> 24
      if (length > 2) this.#writer.u8((code >>> 16) & 0xff)
      if (length > 1) this.#writer.u8((code >>> 8) & 0xff)
      this.#writer.u8(code & 0xff)
      secondaries.u8(commonSecondary)
    } else {
      this.#appendMark(indexOf(element))
    }
    this.#appendTertiary(rankOf(element))
  }

  /** A weight below {@link markLead} takes one byte; other weights take two bytes. */
  #appendMark(index: number): void {
    const weight = commonSecondary + 1 + index
    if (weight < markLead) secondaries.u8(weight)
    else {
      secondaries.u8(markLead + ((weight - markLead) >> 8))
      secondaries.u8((weight - markLead) & 0xff)
    }
    this.#secondaryEnd = secondaries.length
  }

  #appendTertiary(rank: number): void {
    tertiaries.u8(commonTertiary + rank)
    if (rank > 0) this.#tertiaryEnd = tertiaries.length
  }

  #appendUnknown(point: number): void {
    this.#writer.u8(point === highestCharacter ? highestLead : implicitLead)
    this.#writer.u8(point >> 16)
    this.#writer.u8((point >> 8) & 0xff)
    this.#writer.u8(point & 0xff)
    secondaries.u8(commonSecondary)
    this.#appendTertiary(0)
  }
}

const firstCombining = 0x300
const combining = /\p{M}/u

/** Maximum number of marks between the parts of a contraction; bounds the time for malicious texts. */
const skippedMarksMax = 16

/** Weights of marks from this value on take two bytes. */
const markLead = 0xf0

/** A character that sorts after every other character. */
const highestCharacter = 0xffff
