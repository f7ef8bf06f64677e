// Parses the cases of `match` without building nodes, because evaluating a `match` always fails.

import { readNumber, readString, startsNumber, startsString } from './literals.ts'
import type { Node } from './nodes.ts'
import { char, type SourceReader } from './reader.ts'
import { readType } from './types.ts'

/**
 * Skips `{ case pattern => expression … }`. `separators` skips the separators after a case, and returns true if there is
 * a separator.
 */
export function skipCases(reader: SourceReader, expression: () => Node, separators: () => boolean): void {
  reader.skipSpace()
  reader.requires('{')
  reader.skipSpace()
  do {
    if (reader.unit() === char.closeBrace) break
    if (!reader.skipsWord('case')) throw reader.expected()
    reader.skipSpace()
    skipPattern(reader)
    reader.skipSpace()
    reader.requires('=>')
    reader.skipSpace()
    expression()
  } while (separators())
  reader.skipSpace()
  reader.requires('}')
}

function skipPattern(reader: SourceReader): void {
  if (startsNumber(reader)) readNumber(reader)
  else if (startsString(reader)) {
    readString(reader, () => {
      throw reader.expected()
    })
  } else if (reader.skips('(')) skipPatterns(reader, ')')
  else if (reader.skips('[')) skipPatterns(reader, ']')
  else if (reader.skips('{')) skipPatterns(reader, '}')
  else if (reader.skips('...')) reader.name()
  else skipNamed(reader)
}

function skipNamed(reader: SourceReader): void {
  const name = reader.peekName()
  if (name === 'null' || name === 'true' || name === 'false') {
    reader.at += name.length
    return
  }
  reader.name()
  reader.skipBlanks()
  if (reader.skips(':')) {
    reader.skipSpace()
    readType(reader)
  } else if (reader.skips('@')) {
    reader.skipSpace()
    skipPattern(reader)
  }
}

/** Skips patterns up to a closing bracket. In all brackets, a key and a colon may precede a pattern, as in objects. */
function skipPatterns(reader: SourceReader, bracket: string): void {
  reader.separated(bracket, () => {
    skipPattern(reader)
    reader.skipBlanks()
    if (!reader.skips(':')) return
    reader.skipSpace()
    skipPattern(reader)
  })
}
