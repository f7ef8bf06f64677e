// Reads the code points of a pattern in Java's syntax. Resolves quoted sections and escapes of single characters, and
// skips comments. Also defines the flags of patterns.

import { RegexSyntaxError, UnsupportedRegexError } from './pattern-errors.ts'

/** Stands for the end of the pattern. */
export const end = -1

const backslash = 0x5c
const hash = 0x23
const newline = 0x0a

export class PatternReader {
  readonly #codePoints: readonly number[]
  #at = 0
  /** With flag `x`, the reader skips blanks and `#` comments. */
  comments = false

  constructor(pattern: string) {
    this.#codePoints = unquote(pattern)
  }

  /** Points to the code point that is `before` code points before the current position. */
  fault(reason: string, before = 1): RegexSyntaxError {
    return new RegexSyntaxError(reason, this.#at - before)
  }

  /**
   * Returns the next code point, or {@link end}, without consuming it. With flag `x`, first skips blanks and comments.
   */
  peek(): number {
    if (this.comments) this.#skipComments()
    return this.#codePoints[this.#at] ?? end
  }

  /** Like {@link peek}, but consumes the code point. */
  next(): number {
    const codePoint = this.peek()
    if (codePoint !== end) this.#at++
    return codePoint
  }

  /** Like {@link next}, but never skips blanks and comments. */
  nextRaw(): number {
    const codePoint = this.peekRaw()
    if (codePoint !== end) this.#at++
    return codePoint
  }

  /** Like {@link peek}, but never skips blanks and comments. `ahead`: code points before the returned one. */
  peekRaw(ahead = 0): number {
    return this.#codePoints[this.#at + ahead] ?? end
  }

  /** Consumes `text` and returns true if the pattern continues with `text`. */
  skip(text: string): boolean {
    for (let index = 0; index < text.length; index++) {
      if (this.peekRaw(index) !== text.charCodeAt(index)) return false
    }
    this.#at += text.length
    return true
  }

  /** Consumes `close`, too. Throws `RegexSyntaxError` with `reason` if `close` is missing. */
  readUntil(close: string, reason: string): string {
    let text = ''
    for (;;) {
      const codePoint = this.nextRaw()
      if (codePoint === end) throw this.fault(reason)
      if (codePoint === close.charCodeAt(0)) return text
      text += String.fromCodePoint(codePoint)
    }
  }

  /** Numbers above a billion become a billion. Returns undefined if no digit follows. */
  readNumber(): number | undefined {
    if (!isDigit(this.peekRaw())) return undefined
    let number = 0
    while (isDigit(this.peekRaw())) number = Math.min(number * 10 + this.nextRaw() - 0x30, 1e9)
    return number
  }

  #skipComments(): void {
    for (;;) {
      const codePoint = this.peekRaw()
      if (isBlank(codePoint)) this.#at++
      else if (codePoint === hash) {
        while (this.peekRaw() !== end && this.peekRaw() !== newline) this.#at++
      } else return
    }
  }

  /** The character of an escape. The backslash and `letter` have already been read. */
  readEscaped(letter: number): number {
    switch (String.fromCodePoint(letter)) {
      case '0':
        return this.#octal()
      case 'a':
        return 7
      case 'c':
        return this.#control()
      case 'e':
        return 0x1b
      case 'f':
        return 0x0c
      case 'n':
        return newline
      case 'r':
        return 0x0d
      case 't':
        return 9
      case 'u':
        return this.#utf16()
      case 'x':
        return this.skip('{') ? this.#bracedHex() : this.#hex(2)
      case 'N':
        throw new UnsupportedRegexError('character names (\\N{…})')
    }
    if (isAsciiLetter(letter)) throw this.fault('Illegal/unsupported escape sequence')
    return letter
  }

  #control(): number {
    const codePoint = this.nextRaw()
    if (codePoint === end) throw this.fault('Illegal control escape sequence', 0)
    return codePoint ^ 0x40
  }

  #octal(): number {
    const digitsMax = this.peekRaw() <= 0x33 ? 3 : 2
    let value = 0
    let count = 0
    for (; count < digitsMax && this.peekRaw() >= 0x30 && this.peekRaw() <= 0x37; count++) {
      value = value * 8 + this.nextRaw() - 0x30
    }
    if (count === 0) throw this.fault('Illegal octal escape sequence', 0)
    return value
  }

  #hex(count: number): number {
    let text = ''
    for (let index = 0; index < count; index++) text += String.fromCodePoint(Math.max(0, this.nextRaw()))
    return this.#hexValue(text)
  }

  #bracedHex(): number {
    const value = this.#hexValue(this.readUntil('}', 'Unclosed hexadecimal escape sequence'))
    if (value > 0x10ffff) throw this.fault('Hexadecimal codepoint is too big')
    return value
  }

  #hexValue(text: string): number {
    if (!/^[0-9a-fA-F]+$/.test(text)) throw this.fault('Illegal hexadecimal escape sequence')
    return Number.parseInt(text, 16)
  }

  /** Reads the four hex digits of `\u`. If the next escape completes a surrogate pair, reads both. */
  #utf16(): number {
    const high = this.#hex(4)
    if (high < 0xd800 || high > 0xdbff) return high
    const afterHigh = this.#at
    if (this.skip('\\u')) {
      const low = this.#hex(4)
      if (low >= 0xdc00 && low <= 0xdfff) return 0x10000 + ((high - 0xd800) << 10) + low - 0xdc00
    }
    this.#at = afterHigh
    return high
  }
}

export function isDigit(codePoint: number): boolean {
  return codePoint >= 0x30 && codePoint <= 0x39
}

export function isAsciiLetter(codePoint: number): boolean {
  return (codePoint | 0x20) >= 0x61 && (codePoint | 0x20) <= 0x7a
}

function isBlank(codePoint: number): boolean {
  return codePoint === 0x20 || (codePoint >= 9 && codePoint <= 13)
}

/** Replaces `\Q…\E` by an escape for each special character. */
function unquote(pattern: string): number[] {
  const unquoted: number[] = []
  let at = 0
  while (at < pattern.length) {
    if (!pattern.startsWith('\\Q', at)) {
      // Copies a backslash with the next character, so `\\Q` is an escaped backslash and a Q.
      const escaped = pattern.charCodeAt(at) === backslash ? 1 : 0
      if (escaped) unquoted.push(backslash)
      at += escaped
      const codePoint = pattern.codePointAt(at)
      if (codePoint === undefined) break
      unquoted.push(codePoint)
      at += codePoint > 0xffff ? 2 : 1
      continue
    }
    const close = pattern.indexOf('\\E', at + 2)
    const stop = close < 0 ? pattern.length : close
    for (const character of pattern.slice(at + 2, stop)) {
      const codePoint = character.codePointAt(0) as number
      if (!isAsciiLetter(codePoint) && codePoint < 0x80) unquoted.push(...escapedAscii(codePoint))
      else unquoted.push(codePoint)
    }
    at = stop + 2
  }
  return unquoted
}

/**
 * Escapes a digit in hex, because a plain digit could become part of the previous escape. `codePoint` is ASCII and no
 * letter.
 */
function escapedAscii(codePoint: number): number[] {
  if (!isDigit(codePoint)) return [backslash, codePoint]
  return [backslash, 0x78, 0x33, codePoint]
}

/** Each comment begins with the letter of the flag. */
export interface Flags {
  /** `i`: the case of ASCII letters is ignored. */
  readonly ignoreCase: boolean
  /** `m`: `^` and `$` also match at line boundaries. */
  readonly multiline: boolean
  /** `s`: `.` also matches line terminators. */
  readonly dotAll: boolean
  /** `d`: only `\n` is a line terminator. */
  readonly unixLines: boolean
  /** `u`: flag `i` applies to all Unicode letters. */
  readonly unicodeCase: boolean
  /** `U`: predefined classes such as `\w` contain Unicode characters, and not only ASCII characters. */
  readonly unicodeClasses: boolean
  /** `x`: blanks and comments are ignored. */
  readonly comments: boolean
}

/** The initial flags of every pattern. */
export const noFlags: Flags = {
  ignoreCase: false,
  multiline: false,
  dotAll: false,
  unixLines: false,
  unicodeCase: false,
  unicodeClasses: false,
  comments: false,
}

const byLetter: Readonly<Record<string, Partial<Record<keyof Flags, true>>>> = {
  i: { ignoreCase: true },
  m: { multiline: true },
  s: { dotAll: true },
  d: { unixLines: true },
  u: { unicodeCase: true },
  U: { unicodeClasses: true, unicodeCase: true },
  x: { comments: true },
}

/**
 * Letters before a minus sign switch flags on, and letters after the minus sign switch flags off. Stops at the first
 * character that is not a flag letter.
 */
export function readFlags(reader: PatternReader, flags: Flags): Flags {
  let changed = flags
  let on = true
  for (;;) {
    const letter = String.fromCodePoint(Math.max(0, reader.peekRaw()))
    const names = Object.hasOwn(byLetter, letter) ? byLetter[letter] : undefined
    if (names) {
      const changes = Object.fromEntries(Object.keys(names).map(name => [name, on]))
      changed = { ...changed, ...changes }
    } else if (letter === '-' && on) on = false
    else return changed
    reader.nextRaw()
  }
}
