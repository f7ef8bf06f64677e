// Where text ends that is no part of the grammar, so that one unreadable item does not hide what is wrong with the others.

import { step } from '../../../base/effort.ts'

const closers = new Set([')', ']', '}'])

/**
 * Where an unreadable item that begins at an offset ends: before the line end, semicolon or closing brace that is in no
 * brackets, text or comment of the item; at the latest at the end of the text. Source: the parser of version 10, whose
 * brackets need not match as long as no brace closes another one.
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

/** The last unit of a text in quotes. */
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

/** The last unit of a comment, in which others may be. */
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
