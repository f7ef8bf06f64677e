// Splits a GraphQL document or schema into tokens, without building a tree, before or instead of the parser of the
// library. Invalid text never fails here: the library reports its errors.

import { step } from '../../base/effort.ts'

/** `other` is a character that no document may contain. */
type TokenKind = 'name' | 'number' | 'string' | 'punctuation' | 'other'

/** The range has UTF-16 offsets. */
interface Token {
  readonly kind: TokenKind
  readonly start: number
  readonly end: number
}

const quote = 0x22
const hash = 0x23
const dot = 0x2e
const backslash = 0x5c
const minus = 0x2d
const comma = 0x2c
const byteOrderMark = 0xfeff
const punctuation = new Set([...'!$&()[]{}:=@|'].map(character => character.charCodeAt(0)))

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39
}

function startsName(unit: number): boolean {
  return (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a) || unit === 0x5f
}

function isIgnored(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0a || unit === 0x0d || unit === comma
}

/** Skips comments, commas and white space. */
export function* tokensOf(text: string): Generator<Token> {
  let at = 0
  while (at < text.length) {
    const unit = text.charCodeAt(at)
    if (isIgnored(unit) || unit === byteOrderMark) {
      at++
      continue
    }
    if (unit === hash) {
      at = lineEnd(text, at)
      continue
    }
    step()
    const token = tokenAt(text, at, unit)
    yield token
    at = token.end
  }
}

function tokenAt(text: string, start: number, unit: number): Token {
  if (startsName(unit)) return { kind: 'name', start, end: nameEnd(text, start) }
  if (isDigit(unit) || unit === minus) return { kind: 'number', start, end: numberEnd(text, start + 1) }
  if (unit === quote) return { kind: 'string', start, end: stringEnd(text, start) }
  if (unit === dot && text.startsWith('...', start)) return { kind: 'punctuation', start, end: start + 3 }
  return { kind: punctuation.has(unit) ? 'punctuation' : 'other', start, end: start + 1 }
}

function lineEnd(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charCodeAt(at) !== 0x0a && text.charCodeAt(at) !== 0x0d) at++
  return at
}

function nameEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && (startsName(text.charCodeAt(at)) || isDigit(text.charCodeAt(at)))) at++
  return at
}

function numberEnd(text: string, from: number): number {
  let at = from
  while (at < text.length && /[0-9.eE+-]/.test(text[at] as string)) at++
  return at
}

function stringEnd(text: string, start: number): number {
  if (text.startsWith('"""', start)) {
    let end = text.indexOf('"""', start + 3)
    while (end > 0 && text.charCodeAt(end - 1) === backslash) end = text.indexOf('"""', end + 3)
    return end < 0 ? text.length : end + 3
  }
  let at = start + 1
  while (at < text.length) {
    const unit = text.charCodeAt(at)
    if (unit === backslash) at++
    else if (unit === quote) return at + 1
    else if (unit === 0x0a || unit === 0x0d) return at
    at++
  }
  return text.length
}
