// Parses the JSON of requests. Terrarium has its own parser, because FQL needs four properties that JSON.parse lacks.
// Integers of 64 bits are exact and distinct from doubles. Keys that look like integers keep their position among the
// keys. The first of two equal keys wins. The nesting depth is limited (docs/decisions/0001-own-json-parser.md).

import { catchError } from '../base/catch-error.ts'
import { longCall, longCallUnits, step } from '../base/effort.ts'
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  openBrace,
  openBracket,
  quote,
  space,
} from './json-scan.ts'
import { int64Max, int64Min, type Json } from './value.ts'

export const jsonLimits = {
  /** Maximum number of nested arrays and objects in the JSON of a request body. */
  jsonDepthMax: 1000,
  /** Maximum number of characters of a key in the JSON of a request body. */
  jsonNameCharsMax: 50_000,
  /** Maximum number of characters of a number with a point or an exponent in the JSON of a request body. */
  jsonNumberCharsMax: 1000,
} as const

/** Thrown if the text is not JSON, or is nested deeper than `jsonLimits.jsonDepthMax`. */
export class JsonSyntaxError extends Error {
  override name = 'JsonSyntaxError'
  readonly reason: 'syntax' | 'nesting'
  /** UTF-16 offset at which the parser stopped. */
  readonly offset: number
  constructor(reason: 'syntax' | 'nesting', offset: number) {
    super(
      reason === 'syntax' ? `invalid JSON at offset ${offset}` : `JSON nested too deeply at offset ${offset}`,
    )
    this.reason = reason
    this.offset = offset
  }
}

/**
 * Parses the first JSON value of a text. Numbers without `.` and `e` become bigint, others number. Objects become Maps
 * in source order, in which the first of several equal keys wins. Text after the value is ignored if it begins like
 * another value: `1 2` is parsed as 1, but `[1] junk` is an error. The protocol defines these rules and all limits.
 * Throws {@link JsonSyntaxError}.
 */
export function parseJson(text: string): Json {
  return new JsonParser(text).parse()
}

/** The first repeated key of each object with repeated keys. */
export type RepeatedNames = ReadonlyMap<Json, string>

/** Like {@link parseJson}, but the last of several equal keys wins. */
export function parseJsonWithRepeated(text: string): {
  readonly json: Json
  readonly repeated: RepeatedNames
} {
  const repeated = new Map<Json, string>()
  return { json: new JsonParser(text, repeated).parse(), repeated }
}

/** Returns undefined for a text that is not JSON. */
export function tryJson(text: string): Json | undefined {
  return catchError(
    JsonSyntaxError,
    () => parseJson(text),
    () => undefined,
  )
}

const minus = 0x2d
const plus = 0x2b
const dot = 0x2e
const zero = 0x30
const nine = 0x39
const upperE = 0x45
const lowerE = 0x65
const byteOrderMark = 0xfeff

/** Represents the end of the text. No character has this code. */
const end = -1

/** Integers with at most this number of characters are exact in a double. */
const plainIntegerChars = 15

/** `\u` is handled separately. */
const simpleEscapes = new Map<number, string>(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, meaning]) => [letter.charCodeAt(0), meaning],
  ),
)

/**
 * Parsing this many values is counted as a long call (base/effort.ts), because their garbage collection takes longer
 * than parsing.
 */
const manyValues = 32_768

class JsonParser {
  readonly #text: string
  readonly #length: number
  #at = 0
  #depth = 0
  #valueCount = 0

  /** Collects the objects with a repeated key. If present, the last of several equal keys wins, otherwise the first. */
  readonly #repeated: Map<Json, string> | undefined

  constructor(text: string, repeated?: Map<Json, string>) {
    this.#text = text
    this.#length = text.length
    this.#repeated = repeated
  }

  parse(): Json {
    if (this.#length > 0 && this.#text.charCodeAt(0) === byteOrderMark) this.#at = 1
    const first = this.#next()
    const value = this.#value(first)
    this.#checkTrailer(first === quote || first === openBrace || first === openBracket)
    return value
  }

  /**
   * Rejects a trailer (the text after the value) that does not begin like another value. After a number or a word, the
   * trailer must begin with white space.
   */
  #checkTrailer(selfDelimiting: boolean): void {
    const valueEnd = this.#at
    const first = this.#next()
    if (first === end) return
    if (!selfDelimiting && this.#at === valueEnd) this.#fail()
    if (first !== quote && first !== openBrace && first !== openBracket) this.#value(first)
  }

  #fail(): never {
    throw new JsonSyntaxError('syntax', this.#at)
  }

  /** Skips white space and returns the next character without consuming it. */
  #next(): number {
    const text = this.#text
    let at = this.#at
    while (at < this.#length) {
      const unit = text.charCodeAt(at)
      if (unit > space || (unit !== space && unit !== 0x0a && unit !== 0x0d && unit !== 0x09)) {
        this.#at = at
        return unit
      }
      at++
    }
    this.#at = at
    return end
  }

  #value(first: number): Json {
    step()
    if (++this.#valueCount === manyValues) longCall(longCallUnits)
    switch (first) {
      case quote:
        return this.#string()
      case openBrace:
        return this.#object()
      case openBracket:
        return this.#array()
      case 0x74:
        return this.#word('true', true)
      case 0x66:
        return this.#word('false', false)
      case 0x6e:
        return this.#word('null', null)
      default:
        if (first === minus || (first >= zero && first <= nine)) return this.#number()
        return this.#fail()
    }
  }

  #word(word: string, value: Json): Json {
    if (!this.#text.startsWith(word, this.#at)) this.#fail()
    this.#at += word.length
    return value
  }

  #enter(): void {
    if (++this.#depth > jsonLimits.jsonDepthMax) throw new JsonSyntaxError('nesting', this.#at)
    this.#at++
  }

  #object(): Json {
    this.#enter()
    const fields = new Map<string, Json>()
    let next = this.#next()
    if (next !== closeBrace) {
      for (;;) {
        if (next !== quote) this.#fail()
        const name = this.#string()
        if (name.length > jsonLimits.jsonNameCharsMax) this.#fail()
        if (this.#next() !== colon) this.#fail()
        this.#at++
        const value = this.#value(this.#next())
        if (!fields.has(name)) fields.set(name, value)
        else if (this.#repeated !== undefined) {
          fields.set(name, value)
          if (!this.#repeated.has(fields)) this.#repeated.set(fields, name)
        }
        next = this.#next()
        if (next === closeBrace) break
        if (next !== comma) this.#fail()
        this.#at++
        next = this.#next()
      }
    }
    this.#at++
    this.#depth--
    return fields
  }

  #array(): Json {
    this.#enter()
    let next = this.#next()
    // An empty array would allocate room for seventeen elements at the first push, so deeply nested arrays would need
    // much memory.
    const items = next === closeBracket ? [] : [this.#value(next)]
    if (items.length > 0) {
      for (next = this.#next(); next !== closeBracket; next = this.#next()) {
        if (next !== comma) this.#fail()
        this.#at++
        items.push(this.#value(this.#next()))
      }
    }
    this.#at++
    this.#depth--
    return items
  }

  #string(): string {
    const text = this.#text
    const start = this.#at + 1
    for (let at = start; at < this.#length; at++) {
      const unit = text.charCodeAt(at)
      if (unit === quote) {
        this.#at = at + 1
        step((at - start) >> 4)
        return text.slice(start, at)
      }
      if (unit === backslash) return this.#escapedString(start, at)
      if (unit < space) break
    }
    return this.#fail()
  }

  /** Copies each run of plain characters with one call. */
  #escapedString(start: number, firstEscape: number): string {
    const text = this.#text
    let result = text.slice(start, firstEscape)
    let runStart = firstEscape
    for (let at = firstEscape; at < this.#length; ) {
      const unit = text.charCodeAt(at)
      if (unit === quote) {
        this.#at = at + 1
        return result + text.slice(runStart, at)
      }
      if (unit < space) break
      if (unit !== backslash) {
        at++
        continue
      }
      step()
      result += text.slice(runStart, at) + this.#escape(at + 1)
      at = runStart = this.#at
    }
    return this.#fail()
  }

  #escape(at: number): string {
    const letter = this.#text.charCodeAt(at)
    const simple = simpleEscapes.get(letter)
    if (simple !== undefined) {
      this.#at = at + 1
      return simple
    }
    if (letter !== 0x75 || at + 4 >= this.#length) this.#fail()
    let unit = 0
    for (let digit = at + 1; digit <= at + 4; digit++) unit = unit * 16 + this.#hexDigit(digit)
    this.#at = at + 5
    return String.fromCharCode(unit)
  }

  #hexDigit(at: number): number {
    const unit = this.#text.charCodeAt(at)
    if (unit >= zero && unit <= nine) return unit - zero
    const letter = unit | 0x20
    if (letter >= 0x61 && letter <= 0x66) return letter - 0x61 + 10
    return this.#fail()
  }

  #number(): bigint | number {
    const text = this.#text
    const start = this.#at
    const negative = text.charCodeAt(start) === minus
    const digits = negative ? start + 1 : start
    let at = this.#skipDigits(digits)
    if (at > digits + 1 && text.charCodeAt(digits) === zero) this.#fail()
    const following = at < this.#length ? text.charCodeAt(at) : end
    if (following !== dot && following !== lowerE && following !== upperE) {
      this.#at = at
      return at - start <= plainIntegerChars
        ? BigInt(this.#smallInteger(digits, at, negative))
        : this.#integer(start)
    }
    if (following === dot) at = this.#skipDigits(at + 1)
    const mark = at < this.#length ? text.charCodeAt(at) : end
    if (mark === lowerE || mark === upperE) {
      const sign = text.charCodeAt(at + 1)
      at = this.#skipDigits(sign === plus || sign === minus ? at + 2 : at + 1)
    }
    this.#at = at
    if (at - start > jsonLimits.jsonNumberCharsMax) this.#fail()
    return Number(text.slice(start, at))
  }

  /** Returns the offset after the digits at `from`. Fails if there is no digit. */
  #skipDigits(from: number): number {
    const text = this.#text
    let at = from
    while (at < this.#length) {
      const unit = text.charCodeAt(at)
      if (unit < zero || unit > nine) break
      at++
    }
    if (at === from) {
      this.#at = at
      this.#fail()
    }
    return at
  }

  #smallInteger(from: number, to: number, negative: boolean): number {
    let value = 0
    for (let at = from; at < to; at++) value = value * 10 + (this.#text.charCodeAt(at) - zero)
    return negative ? -value : value
  }

  /** The integer may have more than 64 bits. The check of the length, for a sign and 19 digits, bounds the cost. */
  #integer(start: number): bigint {
    if (this.#at - start > 20) this.#fail()
    const value = BigInt(this.#text.slice(start, this.#at))
    if (value < int64Min || value > int64Max) this.#fail()
    return value
  }
}
