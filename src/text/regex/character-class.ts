// Parses character classes in Java's syntax, with ranges, intersections and nested classes, to sets of code points.

import { step } from '../../base/effort.ts'
import {
  type CodePointSet,
  complement,
  foldAscii,
  intersection,
  noCodePoints,
  setOf,
} from './code-point-set.ts'
import { UnsupportedRegexError } from './pattern-errors.ts'
import { end, type Flags, type PatternReader } from './pattern-reader.ts'
import { predefinedClass, propertyNamed } from './unicode-property.ts'

const open = 0x5b
const close = 0x5d
const ampersand = 0x26
const caret = 0x5e
const minus = 0x2d
const backslash = 0x5c

/** If `negated` is true, the class is the complement of `set`. */
export interface CharacterClass {
  readonly set: CodePointSet
  readonly negated: boolean
}

/** With flag `i`, the class also contains the other case of each ASCII letter in the set. */
export function classOf(set: CodePointSet, flags: Flags): CharacterClass {
  return { set: flags.ignoreCase ? foldAscii(set) : set, negated: false }
}

const unclosed = 'Unclosed character class'

/** The opening bracket has already been read. */
export function readClass(reader: PatternReader, flags: Flags, depth = 0): CharacterClass {
  if (depth > nestedMax) throw new UnsupportedRegexError('character classes nested so deeply')
  const negated = reader.peek() === caret
  if (negated) reader.next()
  const set = readMembers(reader, flags, depth)
  if (reader.next() !== close) throw reader.fault(unclosed)
  return { set, negated }
}

/** Maximum depth of nested classes and intersections; protects the stack, because the parser is recursive. */
const nestedMax = 100

/**
 * Above this number of bounds, ranges are merged while a class is being read. Otherwise, a short pattern could create
 * very many ranges.
 */
const mergedFromMin = 8192

/** Reads until the closing bracket. The right operand of `&&` extends to the end of the class. */
function readMembers(reader: PatternReader, flags: Flags, depth: number): CodePointSet {
  if (depth > nestedMax) throw new UnsupportedRegexError('so many intersections')
  let ranges: number[] = []
  let mergedFrom = mergedFromMin
  let any = false
  for (;;) {
    const codePoint = reader.peek()
    if (codePoint === end) throw reader.fault(unclosed)
    if (codePoint === close && any) return fold(setOf(ranges), flags)
    if (codePoint === ampersand && reader.peekRaw(1) === ampersand) {
      reader.next()
      reader.next()
      const next = reader.peek()
      if (next !== ampersand && next !== close) {
        const right = readMembers(reader, flags, depth + 1)
        return any ? intersection(fold(setOf(ranges), flags), right) : right
      }
      // As in Java, this is an error only at the start of a class; elsewhere, `&&` without a right operand is ignored.
      if (!any) throw reader.fault('Bad class syntax')
      continue
    }
    any = true
    const member = readMember(reader, flags, depth)
    step(member.length >> 2)
    for (const bound of member) ranges.push(bound)
    if (ranges.length > mergedFrom) {
      ranges = [...setOf(ranges)]
      mergedFrom = Math.max(mergedFrom, 2 * ranges.length)
    }
  }
}

function fold(set: CodePointSet, flags: Flags): CodePointSet {
  return classOf(set, flags).set
}

/** Reads a nested class, a class escape, a range, or a single character. */
function readMember(reader: PatternReader, flags: Flags, depth: number): CodePointSet {
  const codePoint = reader.next()
  if (codePoint === open) {
    const { negated, set } = readClass(reader, flags, depth + 1)
    return negated ? complement(set) : set
  }
  let first = codePoint
  if (codePoint === backslash) {
    const letter = reader.nextRaw()
    const set = readClassEscape(reader, letter, flags, reader.peekRaw() === minus)
    if (set) return set
    first = characterInClass(reader, letter)
  }
  if (reader.peek() !== minus || reader.peekRaw(1) === open || reader.peekRaw(1) === close)
    return [first, first]
  reader.next()
  const last = readRangeEnd(reader)
  if (last === end) throw reader.fault(unclosed)
  if (last < first) throw reader.fault('Illegal character range')
  return [first, last]
}

function readRangeEnd(reader: PatternReader): number {
  const codePoint = reader.next()
  return codePoint === backslash ? characterInClass(reader, reader.nextRaw()) : codePoint
}

const verticalTab = 0x0b

function characterInClass(reader: PatternReader, letter: number): number {
  if (letter === end) throw reader.fault('Unexpected internal error', 0)
  if (letter >= 0x31 && letter <= 0x39) throw reader.fault('Illegal/unsupported escape sequence')
  return letter === 0x76 ? verticalTab : reader.readEscaped(letter)
}

/**
 * The set of an escape such as `\d`, after `letter` has been read; undefined for a single character. `\v` is the
 * vertical tab at the start or end of a range, and the set of vertical white space elsewhere.
 */
export function readClassEscape(
  reader: PatternReader,
  letter: number,
  flags: Flags,
  startsRange = false,
): CodePointSet | undefined {
  if (letter === end) throw reader.fault('Unexpected internal error', 0)
  const name = String.fromCodePoint(letter)
  switch (name) {
    case 'p':
      return readProperty(reader)
    case 'P':
      return complement(readProperty(reader))
    case 'v':
      return startsRange ? undefined : predefinedClass(name, flags.unicodeClasses)
    case 'd':
    case 'D':
    case 'h':
    case 'H':
    case 's':
    case 'S':
    case 'V':
    case 'w':
    case 'W':
      return predefinedClass(name, flags.unicodeClasses)
    default:
      return undefined
  }
}

function readProperty(reader: PatternReader): CodePointSet {
  const name = reader.skip('{')
    ? reader.readUntil('}', 'Unclosed character family')
    : String.fromCodePoint(Math.max(0, reader.nextRaw()))
  const found = propertyNamed(name)
  if (found === 'block') throw new UnsupportedRegexError('Unicode blocks (\\p{In…})')
  if (!found) throw reader.fault(`Unknown character property name {${name}}`)
  return found
}

/** Returns the class of `.`. */
export function dotClass(flags: Flags): CharacterClass {
  if (flags.dotAll) return { set: noCodePoints, negated: true }
  const set = flags.unixLines ? [0x0a, 0x0a] : [0x0a, 0x0a, 0x0d, 0x0d, 0x85, 0x85, 0x2028, 0x2029]
  return { set, negated: true }
}
