// Anchors of patterns, with Java's line terminators and Java's word characters.

import { isPairAt } from '../code-points.ts'
import { markTests, wordTest } from './code-point-test.ts'
import type { Anchor } from './pattern-tree.ts'

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** `previousEnd` is the end of the previous match, or 0. */
export function anchorMatches(anchor: Anchor, text: string, at: number, previousEnd: number): boolean {
  switch (anchor) {
    case 'textStart':
      return at === 0
    case 'textEnd':
      return at === text.length
    case 'lastLineEnd':
      return at === text.length || (isLineEnd(text, at) && at + terminatorLength(text, at) === text.length)
    case 'unixLastLineEnd':
      return at === text.length || (at === text.length - 1 && text.charCodeAt(at) === lineFeed)
    case 'lineStart':
      return at < text.length && (at === 0 || isLineStart(text, at))
    case 'unixLineStart':
      return at < text.length && (at === 0 || text.charCodeAt(at - 1) === lineFeed)
    case 'lineEnd':
      return at === text.length || isLineEnd(text, at)
    case 'unixLineEnd':
      return at === text.length || text.charCodeAt(at) === lineFeed
    case 'boundary':
      return isBoundary(text, at, false)
    case 'unicodeBoundary':
      return isBoundary(text, at, true)
    case 'noBoundary':
      return !isBoundary(text, at, false)
    case 'unicodeNoBoundary':
      return !isBoundary(text, at, true)
    case 'previousEnd':
      return at === previousEnd
  }
}

/**
 * Returns whether RE2 and Java could match an anchor at different offsets of `text`. For RE2, only `\n` is a line
 * terminator, and only ASCII characters are word characters.
 */
export function anchorsDiffer(anchors: ReadonlySet<Anchor>, text: string): boolean {
  for (const anchor of anchors) {
    switch (anchor) {
      case 'lastLineEnd':
      case 'unixLastLineEnd':
        if (isTerminator(text.charCodeAt(text.length - 1))) return true
        break
      case 'lineStart':
      case 'unixLineStart':
        if (text === '' || text.endsWith('\n') || rareTerminator.test(text)) return true
        break
      case 'lineEnd':
      case 'unixLineEnd':
        if (rareTerminator.test(text)) return true
        break
      case 'boundary':
      case 'unicodeBoundary':
      case 'noBoundary':
      case 'unicodeNoBoundary':
        if (beyondAscii.test(text)) return true
    }
  }
  return false
}

const rareTerminator = /[\r\u0085\u2028\u2029]/
const beyondAscii = /[^\0-\x7f]/

function isTerminator(unit: number): boolean {
  return unit === lineFeed || unit === carriageReturn || unit === 0x85 || unit === 0x2028 || unit === 0x2029
}

/** `\r\n` is a single line terminator. */
function isLineEnd(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return isTerminator(unit) && !(unit === lineFeed && text.charCodeAt(at - 1) === carriageReturn)
}

function terminatorLength(text: string, at: number): number {
  return text.charCodeAt(at) === carriageReturn && text.charCodeAt(at + 1) === lineFeed ? 2 : 1
}

function isLineStart(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  return isTerminator(before) && !(before === carriageReturn && text.charCodeAt(at) === lineFeed)
}

function isBoundary(text: string, at: number, unicode: boolean): boolean {
  const before = at > 0 && isInWord(text, at - (at > 1 && isPairAt(text, at - 2) ? 2 : 1), unicode)
  return before !== (at < text.length && isInWord(text, at, unicode))
}

/** As in Java, a non-spacing mark after a letter or digit up to U+FFFF is part of the word. */
function isInWord(text: string, at: number, unicode: boolean): boolean {
  const codePoint = text.codePointAt(at) as number
  if (wordTest(unicode).has(codePoint)) return true
  if (codePoint < 0x80) return false
  const { base, nonSpacing } = markTests()
  for (let from = at; from >= 0; from--) {
    const carrier = text.codePointAt(from) as number
    if (base.has(carrier)) return true
    if (!nonSpacing.has(carrier)) return false
  }
  return false
}
