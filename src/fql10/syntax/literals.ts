// Parses literals: numbers, strings and heredocs. A heredoc is a text of several lines between a name and its
// repetition. The common indentation of the lines is removed.

import { msg } from '../../base/message.ts'
import { int64Max, int64Min } from '../../values/value.ts'
import { escapedCharacters } from '../text/quoted.ts'
import type { LiteralNode, Node, TemplateNode } from './nodes.ts'
import { char, continuesName, isDigit, type SourceReader } from './reader.ts'

const radixes: Readonly<Record<string, RegExp>> = {
  x: /[0-9a-fA-F_]+/y,
  o: /[0-7_]+/y,
  b: /[01_]+/y,
}

/** A double represents every integer with at most this number of decimal digits exactly. */
const safeDigits = 15

/** A number begins with a digit, or with a sign followed by optional whitespace and a digit. */
export function startsNumber(reader: SourceReader): boolean {
  const unit = reader.unit()
  if (isDigit(unit)) return true
  if (unit !== char.plus && unit !== char.minus) return false
  const start = reader.at
  reader.at++
  reader.skipBlanks()
  const found = isDigit(reader.unit())
  reader.at = start
  return found
}

export function readNumber(reader: SourceReader): LiteralNode {
  const { text } = reader
  const start = reader.at
  const negative = reader.unit() === char.minus
  if (negative || reader.unit() === char.plus) {
    reader.at++
    reader.skipBlanks()
  }
  const radix =
    text.charCodeAt(reader.at) === char.zero ? radixes[(text[reader.at + 1] ?? '').toLowerCase()] : undefined
  const value = radix === undefined ? decimal(reader, negative) : readWithRadix(reader, radix, negative)
  return { kind: 'literal', value, start, end: reader.at }
}

function readWithRadix(reader: SourceReader, digits: RegExp, negative: boolean): bigint | number {
  const prefix = `0${(reader.text[reader.at + 1] as string).toLowerCase()}`
  reader.at += 2
  digits.lastIndex = reader.at
  const found = digits.exec(reader.text)?.[0] ?? ''
  const plain = found.replaceAll('_', '')
  reader.at += found.length
  if (plain === '') throw reader.expected('digit')
  return integerOrDouble(BigInt(prefix + plain), negative)
}

function decimal(reader: SourceReader, negative: boolean): bigint | number {
  const { text } = reader
  const start = reader.at
  // No digits may follow a leading zero.
  if (reader.unit() === char.zero) reader.at++
  else skipDigits(reader)
  let isDouble = false
  if (reader.unit() === char.dot && isDigit(text.charCodeAt(reader.at + 1))) {
    isDouble = true
    reader.at++
    skipDigits(reader)
  }
  const unit = reader.unit()
  if (unit === char.upperE || unit === char.lowerE) {
    const sign = text.charCodeAt(reader.at + 1)
    const digit = reader.at + (sign === char.plus || sign === char.minus ? 2 : 1)
    if (isDigit(text.charCodeAt(digit))) {
      isDouble = true
      reader.at = digit
      skipDigits(reader)
    }
  }
  const written = text.slice(start, reader.at)
  const digits = written.includes('_') ? written.replaceAll('_', '') : written
  if (!isDouble && digits.length > safeDigits) return integerOrDouble(BigInt(digits), negative)
  const double = Number(digits)
  if (!isDouble) return BigInt(negative ? -double : double)
  // The literal `-0.0` is 0.0, because the protocol parses literals as decimals, which have no negative zero.
  return negative && double !== 0 ? -double : double
}

function skipDigits(reader: SourceReader): void {
  while (isDigit(reader.unit()) || reader.unit() === char.underscore) reader.at++
}

function integerOrDouble(magnitude: bigint, negative: boolean): bigint | number {
  const integer = negative ? -magnitude : magnitude
  return integer >= int64Min && integer <= int64Max ? integer : Number(integer)
}

export function startsString(reader: SourceReader): boolean {
  const unit = reader.unit()
  return unit === char.quote || unit === char.apostrophe
}

/** In double quotes, `#{…}` contains an expression. `interpolation` parses this expression and the closing brace. */
export function readString(reader: SourceReader, interpolation: () => Node): LiteralNode | TemplateNode {
  const start = reader.at
  const quote = reader.unit()
  const parts: (string | Node)[] = []
  let written = ''
  let from = ++reader.at
  for (;;) {
    const unit = reader.unit()
    if (unit === quote) break
    if (unit === char.backslash) {
      written += reader.text.slice(from, reader.at) + readEscape(reader)
      from = reader.at
    } else if (unit === char.hash && quote === char.quote && reader.follows('#{')) {
      const before = written + reader.text.slice(from, reader.at)
      if (before !== '') parts.push(before)
      reader.at += 2
      parts.push(interpolation())
      written = ''
      from = reader.at
    } else if (reader.isLiteralUnit) reader.at++
    else throw reader.expected(quote === char.quote ? '`"`' : "`'`")
  }
  written += reader.text.slice(from, reader.at)
  const end = ++reader.at
  if (parts.length === 0) return { kind: 'literal', value: written, start, end }
  if (written !== '') parts.push(written)
  return { kind: 'template', parts, start, end }
}

function readEscape(reader: SourceReader): string {
  const start = reader.at
  const letter = reader.text[start + 1] ?? ''
  reader.at++
  const plain = escapedCharacters[letter]
  if (plain !== undefined) {
    reader.at++
    return plain
  }
  if (letter !== 'x' && letter !== 'u') throw reader.expected('escape code')
  reader.at++
  if (letter === 'x') return characterOf(reader, start, hexDigits(reader, 2))
  if (reader.unit() !== char.openBrace) {
    if (!isHex(reader.unit())) throw reader.expected('`{`', 'hex digit')
    return characterOf(reader, start, hexDigits(reader, 4))
  }
  reader.at++
  const from = reader.at
  if (!isHex(reader.unit())) throw reader.expected('hex digit')
  while (isHex(reader.unit()) && reader.at < from + 6) reader.at++
  const digits = reader.text.slice(from, reader.at)
  if (reader.unit() !== char.closeBrace) {
    throw digits.length < 6 ? reader.expected('`}`', 'hex digit') : reader.expected('`}`')
  }
  reader.at++
  return characterOf(reader, start, digits)
}

function hexDigits(reader: SourceReader, count: number): string {
  const from = reader.at
  while (reader.at < from + count) {
    if (!isHex(reader.unit())) throw reader.expected('hex digit')
    reader.at++
  }
  return reader.text.slice(from, reader.at)
}

function isHex(unit: number): boolean {
  return isDigit(unit) || (unit >= 0x41 && unit <= 0x46) || (unit >= 0x61 && unit <= 0x66)
}

/** `digits` is the hexadecimal code point. For an invalid code point, records a fault and throws. */
function characterOf(reader: SourceReader, start: number, digits: string): string {
  const point = Number.parseInt(digits, 16)
  const annotation =
    point >= 0xd800 && point <= 0xdfff
      ? 'surrogates are disallowed'
      : point > 0x10ffff
        ? 'outside of valid unicode range'
        : undefined
  if (annotation !== undefined) throw reader.fault(msg`Invalid escape`, start, reader.at, { annotation })
  return String.fromCodePoint(point)
}

/**
 * Returns the key of a field in an object literal. If the key contains an interpolated expression, records a fault and
 * throws.
 */
export function objectKeyOf(node: Node, reader: SourceReader): string {
  if (node.kind === 'literal') return String(node.value)
  const isPart = (part: string | Node): part is Node => typeof part !== 'string'
  const inner = node.kind === 'template' ? (node.parts.find(isPart) as Node) : node
  const hash = reader.text.lastIndexOf('#{', inner.start)
  throw reader.fault(msg`Object keys do not support interpolation`, inner.start, inner.end, {
    remarks: [
      reader.remark('hint', 'Add a backslash to ignore the interpolation', hash, hash, '\\'),
      reader.remark('hint', 'Use Object.fromEntries if you need a dynamic key', node.start, node.end),
    ],
  })
}

export function startsHeredoc(reader: SourceReader): boolean {
  return reader.text.startsWith('<<-', reader.at) || reader.text.startsWith('<<+', reader.at)
}

/** A line of a heredoc, with its newline and the empty lines that follow. `indent` is the width of its indentation. */
interface Line {
  readonly parts: (string | Node)[]
  readonly indent: number
}

/** Parses from `<<-NAME` or `<<+NAME` to the line that begins with the name. Only `<<+` supports `#{…}`. */
export function readHeredoc(reader: SourceReader, interpolation: () => Node): LiteralNode | TemplateNode {
  const start = reader.at
  const interpolated = reader.text[start + 2] === '+'
  reader.at += 3
  reader.skipBlanks()
  const name = reader.anyName()
  reader.skipBlanks()
  if (reader.unit() !== char.newline && reader.unit() !== char.return) throw reader.expected()
  skipBlankLines(reader)
  const lines: Line[] = []
  while (!skipsEnd(reader, name)) lines.push(readLine(reader, interpolated ? interpolation : undefined))
  const end = reader.at
  const shared = Math.min(...lines.map(({ indent }) => indent))
  const parts: (string | Node)[] = []
  for (const line of lines) {
    const [first, ...others] = line.parts
    const kept = typeof first === 'string' ? [first.slice(shared)] : first === undefined ? [] : [first]
    for (const part of [...kept, ...others]) append(parts, part)
  }
  if (parts.every(part => typeof part === 'string')) {
    return { kind: 'literal', value: parts.join(''), start, end }
  }
  return { kind: 'template', parts, start, end }
}

function append(parts: (string | Node)[], part: string | Node): void {
  const last = parts.at(-1)
  if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part
  else if (part !== '') parts.push(part)
}

function skipBlankLines(reader: SourceReader): void {
  const blankLine = /[ \t]*[\r\n]/y
  for (;;) {
    blankLine.lastIndex = reader.at
    if (!blankLine.test(reader.text)) return
    reader.at = blankLine.lastIndex
  }
}

/**
 * If this line begins with the end marker, moves past the marker and returns true. The marker is the name as a whole
 * word, after optional whitespace.
 */
function skipsEnd(reader: SourceReader, name: string): boolean {
  let at = reader.at
  while (isBlank(reader.text.charCodeAt(at))) at++
  if (!reader.text.startsWith(name, at) || continuesName(reader.text.charCodeAt(at + name.length)))
    return false
  reader.at = at + name.length
  return true
}

function isBlank(unit: number): boolean {
  return unit === char.blank || unit === char.tab
}

function readLine(reader: SourceReader, interpolation: (() => Node) | undefined): Line {
  const { text } = reader
  const parts: (string | Node)[] = []
  let from = reader.at
  while (isBlank(reader.unit())) reader.at++
  const indent = reader.at - from
  for (;;) {
    const unit = reader.unit()
    if (unit === char.newline) break
    if (interpolation !== undefined && unit === char.hash && reader.follows('#{')) {
      // The first part contains the indentation, even if the line begins with an interpolation.
      if (reader.at > from || parts.length > 0) parts.push(text.slice(from, reader.at))
      reader.at += 2
      parts.push(interpolation())
      from = reader.at
    } else if (reader.isLiteralUnit) reader.at++
    else throw reader.expected()
  }
  // Empty lines become part of the previous line, because an empty line has no indentation to remove.
  while (reader.unit() === char.newline || reader.unit() === char.return) reader.at++
  parts.push(text.slice(from, reader.at))
  return { parts, indent }
}
