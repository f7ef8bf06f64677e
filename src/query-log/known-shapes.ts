// Shapes of queries that were asked for lately. Programs send the same query again and again with other numbers in it, ids
// above all: such a query has the shape of the one before, and need not be scanned again. No language has a word that
// begins with a digit, so what does is data wherever it stands.

import type { LanguageName } from '../values/code.ts'

/** The shape of a query in a language. */
export type ShapeOf = (language: LanguageName, query: string) => string

/** Longer queries are not remembered. */
const queryCharsMax = 2048

interface KnownShape {
  readonly language: LanguageName
  readonly query: string
  readonly shape: string
}

export class KnownShapes {
  readonly #shapeOf: ShapeOf
  /** By the number of characters: one query for each, so that those of a program that sends a few are all there. */
  readonly #known: (KnownShape | undefined)[] = new Array(queryCharsMax + 1).fill(undefined)

  constructor(shapeOf: ShapeOf) {
    this.#shapeOf = shapeOf
  }

  /** The shape of a query, as the language has it. */
  of(language: LanguageName, query: string): string {
    const known = this.#known[query.length]
    if (known !== undefined && known.language === language && differInNumbers(known.query, query))
      return known.shape
    const shape = this.#shapeOf(language, query)
    if (query.length <= queryCharsMax) this.#known[query.length] = { language, query, shape }
    return shape
  }
}

/** Whether two texts of the same length are the same but for digits in what begins with a digit. */
function differInNumbers(known: string, query: string): boolean {
  let isInWord = false
  let isInNumber = false
  for (let at = 0; at < query.length; at++) {
    const unit = query.charCodeAt(at)
    const mayBeInWord = isWordUnit(unit)
    if (mayBeInWord && !isInWord) isInNumber = isDigit(unit)
    isInWord = mayBeInWord
    const other = known.charCodeAt(at)
    if (unit !== other && !(isInNumber && isDigit(unit) && isDigit(other))) return false
  }
  return true
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39
}

/** Whatever may stand in a name, and a backslash: what follows that is part of an escape. */
function isWordUnit(unit: number): boolean {
  const isLetter = (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a
  return isLetter || isDigit(unit) || unit === 0x5f || unit === 0x24 || unit === 0x5c || unit > 0x7f
}
