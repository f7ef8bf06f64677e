// Finds the end of an item with a syntax error, so that the faults of other items can be reported too.

import { step } from '../../../base/effort.ts'

const closers = new Set([')', ']', '}'])

/**
 * The end of an invalid item: the offset of the next line end, semicolon or closing brace outside of its brackets,
 * strings and comments, or the end of the text. Source: the parser of version 10, in which brackets need not match as
 * long as no brace closes another bracket.
 */
export function unreadableEnd(text: string, start: number): number {
  const open: string[] = []
  let at = start
  while (at < text.length) {
    step()
    const unit = text[at] as string
    if (unit === "'" || unit === '"') at = textEnd(text, at)
    else if (unit === '/' && text[at + 1] === '/') at = lineEnd(text, at) - 1
    else if (unit === '/' && text[at + 1] === '*') at = commentEnd(text, at)
    else if (open.length === 0 && '\r\n;}'.includes(unit)) return at
    else if ('([{'.includes(unit)) open.push(unit)
    else if (closers.has(unit) && open.pop() !== '{' && unit === '}') return at
    at++
  }
  return text.length
}

/** The offset of the closing quote. */
function textEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== text[start]) at += text[at] === '\\' ? 2 : 1
  return at
}

function lineEnd(text: string, start: number): number {
  let at = start
  while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at++
  return at
}

/** The last offset of a comment, including nested comments. */
function commentEnd(text: string, start: number): number {
  let depth = 1
  let at = start + 2
  for (; at < text.length; at++) {
    const pair = text.slice(at, at + 2)
    if (pair === '/*') depth++
    else if (pair === '*/' && --depth === 0) return at + 1
    else continue
    at++
  }
  return at
}
