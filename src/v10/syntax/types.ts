// Types, as they stand behind `let x:`. They are checked for their form and mean nothing when a query runs.

import { limits } from '../../limits.ts'
import { readNumber, readString, startsNumber, startsString } from './literals.ts'
import { code, type SourceReader } from './reader.ts'

/** Skips a type. `depth` is how many are around it. */
export function readType(reader: SourceReader, depth = 0): void {
  if (depth > limits.v10NestingMax)
    throw reader.fault('The query is nested too deeply', reader.at, reader.at + 1)
  for (;;) {
    const isName = readBase(reader, depth)
    let end = reader.at
    reader.blanks()
    while (reader.unit() === code.question) {
      reader.at++
      end = reader.at
      reader.blanks()
    }
    const next = reader.unit()
    if (next === code.bar || next === 0x26) reader.at++
    else if (!reader.skips('=>')) {
      if (isName && !isEndOfType(next)) throw reader.expected('`<`', '`=`')
      reader.at = end
      return
    }
    reader.lines()
  }
}

function isEndOfType(unit: number): boolean {
  return [
    code.equals,
    code.newline,
    code.return,
    code.comma,
    code.semicolon,
    code.close,
    code.closeBracket,
    code.closeBrace,
    code.greater,
    code.slash,
  ].some(each => each === unit)
}

/** Skips a type without operators; whether it is a name that could have arguments. */
function readBase(reader: SourceReader, depth: number): boolean {
  if (startsNumber(reader)) readNumber(reader)
  else if (startsString(reader)) {
    readString(reader, () => {
      throw reader.expected('type')
    })
  } else if (reader.skips('[')) readTypes(reader, '`]`', depth)
  else if (reader.skips('(')) readTypes(reader, '`)`', depth)
  else if (reader.skips('{')) readFields(reader, depth)
  else if (reader.isName) {
    reader.anyName()
    while (reader.unit() === code.dot && reader.text.charCodeAt(reader.at + 1) !== code.dot) {
      reader.at++
      reader.anyName()
    }
    const end = reader.at
    reader.blanks()
    if (!reader.skips('<')) {
      reader.at = end
      return true
    }
    readTypes(reader, '`>`', depth)
  } else throw reader.expected('type')
  return false
}

/** Types up to a bracket; in parentheses they may have names and be variadic. */
function readTypes(reader: SourceReader, end: '`]`' | '`)`' | '`>`', depth: number): void {
  const bracket = end[1] as string
  reader.lines()
  while (!reader.skips(bracket)) {
    if (end === '`)`') skipArgumentName(reader)
    readType(reader, depth + 1)
    reader.lines()
    if (reader.skips(',')) reader.lines()
    else if (!reader.text.startsWith(bracket, reader.at)) throw reader.expected(end, '`,`')
  }
}

function skipArgumentName(reader: SourceReader): void {
  const start = reader.at
  if (reader.isName) {
    reader.anyName()
    reader.blanks()
    if (reader.skips(':')) reader.lines()
    else reader.at = start
  }
  if (reader.skips('...')) reader.lines()
}

function readFields(reader: SourceReader, depth: number): void {
  let open: { readonly what: string; readonly start: number; readonly end: number } | undefined
  reader.lines()
  while (!reader.skips('}')) {
    const start = reader.at
    let what: string | undefined
    let from = start
    if (reader.skips('...')) what = 'Interface'
    else {
      if (reader.skips('*')) what = 'Wildcard'
      else if (startsString(reader)) {
        readString(reader, () => {
          throw reader.expected('identifier')
        })
      } else reader.anyName()
      reader.blanks()
      if (!reader.skips(':')) throw reader.expected('`:`')
      reader.lines()
      from = reader.at
      readType(reader, depth + 1)
    }
    const end = reader.at
    if (open !== undefined) {
      const remarks = [reader.remark('hint', `${open.what} defined here`, open.start, open.end)]
      reader.record(`${open.what} must be the last element in an object`, start, end, { remarks })
    }
    if (what !== undefined) open = { what, start: from, end }
    separateFields(reader)
  }
}

function separateFields(reader: SourceReader): void {
  const before = reader.at
  reader.lines()
  const newline = reader.text.slice(before, reader.at).includes('\n')
  if (reader.skips(',') || reader.skips(';')) reader.lines()
  else if (!newline && reader.unit() !== code.closeBrace) throw reader.expected('`,`', '`}`')
}
