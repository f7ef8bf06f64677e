// Reads the tokens that all parsers share, such as whitespace, comments and names. Defines the exceptions that end
// parsing.

import { type Message, msg } from '../../base/message.ts'
import { upsert } from '../../base/upsert.ts'
import type { Diagnostic, Remark } from '../failure/query-failure.ts'
import type { Source } from './source.ts'

const readerLimits = {
  /** Maximum number of syntax errors of one text of version 10. Parsing stops at this number; own limit. */
  v10FaultsMax: 1000,
} as const

/** Words that cannot be names of variables, parameters, projected fields and schema objects. */
const keywords: ReadonlySet<string> = new Set(
  'if else at match case let null true false isa join on of'.split(' '),
)

/** The length of the longest keyword. Most names are longer, so `isKeyword` seldom searches the set. */
const keywordCharsMax = 5

export function isKeyword(word: string): boolean {
  return word.length <= keywordCharsMax && keywords.has(word)
}

/** Thrown when parsing cannot continue, with descriptions of the tokens that would be valid. */
export class ExpectedTokens {
  readonly at: number
  readonly names: readonly string[]
  constructor(at: number, names: readonly string[]) {
    this.at = at
    this.names = names
  }
}

/** Thrown after a recorded fault if parsing cannot continue. */
export class ParseAbort {}

const parseAbort = new ParseAbort()

export const char = {
  tab: 0x09,
  newline: 0x0a,
  return: 0x0d,
  blank: 0x20,
  exclamation: 0x21,
  quote: 0x22,
  hash: 0x23,
  percent: 0x25,
  ampersand: 0x26,
  apostrophe: 0x27,
  open: 0x28,
  close: 0x29,
  star: 0x2a,
  plus: 0x2b,
  comma: 0x2c,
  minus: 0x2d,
  dot: 0x2e,
  slash: 0x2f,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  semicolon: 0x3b,
  less: 0x3c,
  equals: 0x3d,
  greater: 0x3e,
  question: 0x3f,
  upperE: 0x45,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  caret: 0x5e,
  underscore: 0x5f,
  lowerE: 0x65,
  lowerI: 0x69,
  openBrace: 0x7b,
  bar: 0x7c,
  closeBrace: 0x7d,
  tilde: 0x7e,
} as const

export function startsName(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || unit === char.underscore
}

export function isDigit(unit: number): boolean {
  return unit >= char.zero && unit <= char.nine
}

/** Apostrophes may follow the first character of a name, as in `x'`. */
export function continuesName(unit: number): boolean {
  return startsName(unit) || isDigit(unit) || unit === char.apostrophe
}

/**
 * True for characters that may appear unescaped in strings and comments. Excludes ASCII control characters other than
 * whitespace, most spaces and invisible characters from U+2000 to U+206F, the byte order mark, and U+FFF0 to U+FFFF.
 */
export function isDisplayed(unit: number): boolean {
  if (unit < 0x80) return unit >= 0x20 ? unit !== 0x7f : unit >= 0x09 && unit <= 0x0d
  if (unit >= 0x2000 && unit <= 0x206f) {
    return !(unit <= 0x200f || (unit >= 0x2028 && unit <= 0x202f) || unit >= 0x2060)
  }
  return unit < 0xfff0 && unit !== 0xfeff
}

export class SourceReader {
  readonly source: Source
  readonly text: string
  /** Indexes of template values, by their offsets in the text. */
  readonly placeholders: ReadonlyMap<number, number>
  at = 0
  /** The nesting depth of the current type. */
  typeDepth = 0
  /** If a fault is recorded, `ExpectedTokens` errors are not reported. */
  readonly faults: Diagnostic[] = []

  /** `placeholders`: the offsets of template values in ascending order. Each of them is `<value>` in the text. */
  constructor(source: Source, placeholders: readonly number[]) {
    this.source = source
    this.text = source.text
    this.placeholders = new Map(placeholders.map((at, index) => [at, index]))
  }

  /** The character code at the position; NaN at the end of the text. */
  unit(): number {
    return this.text.charCodeAt(this.at)
  }

  /** True if the current character may be part of a string literal. False at a template value. */
  get isLiteralUnit(): boolean {
    const unit = this.unit()
    return isDisplayed(unit) && !(unit === char.less && this.placeholders.has(this.at))
  }

  /** Creates an error at the position, with the tokens that would be valid. */
  expected(...names: string[]): ExpectedTokens {
    return new ExpectedTokens(this.at, names)
  }

  /** Parsing can continue after the fault. Throws ParseAbort if the limit of faults is reached. */
  addFault(message: Message, start: number, end: number, parts: Partial<Diagnostic> = {}): void {
    this.faults.push({ name: 'error', message, span: { source: this.source, start, end }, ...parts })
    if (this.faults.length >= readerLimits.v10FaultsMax) throw parseAbort
  }

  /** Records a fault, and returns the exception that the caller throws. */
  fault(message: Message, start: number, end: number, parts: Partial<Diagnostic> = {}): ParseAbort {
    this.addFault(message, start, end, parts)
    return parseAbort
  }

  /** Returns a function that records a fault for each repeated key of an object. */
  keyCheck(): (key: string, start: number, end: number) => void {
    const places = new Map<string, { readonly start: number; readonly end: number }>()
    return (key, start, end) => {
      const first = upsert(places, key, () => ({ start, end }))
      if (first.start === start) return
      const remarks = [this.remark('hint', 'Key originally used here', first.start, first.end)]
      this.addFault(msg`Duplicate key`, start, end, { remarks })
    }
  }

  remark(name: Remark['name'], message: string, start: number, end: number, suggestion?: string): Remark {
    const span = { source: this.source, start, end }
    return suggestion === undefined ? { name, message, span } : { name, message, span, suggestion }
  }

  /** Skips spaces, tabs and block comments. */
  skipBlanks(): void {
    for (;;) {
      const unit = this.unit()
      if (unit === char.blank || unit === char.tab) this.at++
      else if (unit === char.slash && this.text.charCodeAt(this.at + 1) === char.star) this.skipBlockComment()
      else return
    }
  }

  /** Skips spaces, tabs, newlines and all comments. */
  skipSpace(): void {
    for (;;) {
      const unit = this.unit()
      if (unit === char.blank || unit === char.newline || unit === char.tab || unit === char.return) this.at++
      else if (unit !== char.slash) return
      else if (this.text.charCodeAt(this.at + 1) === char.star) this.skipBlockComment()
      else if (!this.skipsLineComment()) return
    }
  }

  /** If a line comment begins here, skips it with its newline and returns true. */
  skipsLineComment(): boolean {
    const { text } = this
    if (this.unit() !== char.slash || text.charCodeAt(this.at + 1) !== char.slash) return false
    this.at += 2
    while (this.at < text.length && this.unit() !== char.newline) this.#displayed()
    if (this.at < text.length) this.at++
    return true
  }

  /** Comments can be nested. */
  skipBlockComment(): void {
    const { text } = this
    let depth = 0
    do {
      if (this.follows('/*') || this.follows('*/')) {
        depth += this.unit() === char.slash ? 1 : -1
        this.at += 2
      } else if (this.at >= text.length) throw this.expected('`*/`')
      else this.#displayed()
    } while (depth > 0)
  }

  /** Moves past a character that may appear in comments. */
  #displayed(): void {
    if (!isDisplayed(this.unit())) throw this.expected()
    this.at++
  }

  /** If the text continues with the token, moves past the token and returns true. */
  skips(token: string): boolean {
    if (!this.follows(token)) return false
    this.at += token.length
    return true
  }

  requires(token: string): void {
    if (!this.skips(token)) throw this.expected(`\`${token}\``)
  }

  /** Whitespace and comments may precede the end. */
  requiresEnd(): void {
    this.skipSpace()
    if (this.at < this.text.length) throw this.expected('end-of-input')
  }

  /**
   * Reads elements separated by commas up to a closing bracket. A comma may follow the last element. The opening
   * bracket has been read.
   */
  separated(bracket: string, read: () => void): void {
    this.skipSpace()
    while (!this.skips(bracket)) {
      read()
      this.skipSpace()
      if (this.skips(',')) this.skipSpace()
      else if (!this.follows(bracket)) throw this.expected(`\`${bracket}\``, '`,`')
    }
  }

  /** The position does not change. For short tokens, a loop is faster than `startsWith`. */
  follows(token: string): boolean {
    const { at, text } = this
    for (let index = 0; index < token.length; index++) {
      if (text.charCodeAt(at + index) !== token.charCodeAt(index)) return false
    }
    return true
  }

  get startsName(): boolean {
    return startsName(this.unit())
  }

  /** The name or keyword that begins here. The position does not change. */
  peekName(): string {
    return this.text.slice(this.at, this.#nameEnd())
  }

  skipName(): void {
    this.at = this.#nameEnd()
  }

  #nameEnd(): number {
    const { text } = this
    let end = this.at
    if (startsName(text.charCodeAt(end)))
      do end++
      while (continuesName(text.charCodeAt(end)))
    return end
  }

  /** If the text continues with the complete word, moves past the word and returns true. */
  skipsWord(word: string): boolean {
    if (!this.follows(word)) return false
    if (continuesName(this.text.charCodeAt(this.at + word.length))) return false
    this.at += word.length
    return true
  }

  /** Reads a name or a keyword. */
  anyName(): string {
    const name = this.peekName()
    if (name === '') throw this.expected('identifier')
    this.at += name.length
    return name
  }

  /** Reads a name. Records a fault and throws for a keyword. */
  name(): string {
    const start = this.at
    const name = this.anyName()
    if (isKeyword(name)) throw this.keywordFault(name, start)
    return name
  }

  /** Records the fault that a keyword is used as a name, and returns the exception that the caller throws. */
  keywordFault(word: string, start: number): ParseAbort {
    const annotation = `\`${word}\` is a keyword`
    return this.fault(msg`Invalid identifier`, start, start + word.length, { annotation })
  }
}
