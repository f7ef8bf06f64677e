// Texts. Lengths and positions count code points.

import { codePointLength, unitOffset } from '../../text/code-points.ts'
import { tooLong } from '../text-size.ts'
import { entriesFor, type Members, members } from './definition.ts'
import { int, string } from './parameters.ts'

const { field, method, overloaded, signature } = entriesFor<string>()

/** The part of a text between two positions; those outside are moved to its ends. */
function slice(text: string, start: number, end: number): string {
  const from = unitOffset(text, Math.max(0, start))
  return end <= start ? '' : text.slice(from, unitOffset(text, end))
}

/** The table of texts. */
export const stringMembers: Members = members('String', [
  field({
    name: 'length',
    result: 'Number',
    summary: 'The number of code points.',
    example: ['"abc".length', '3'],
    read: text => BigInt(codePointLength(text)),
  }),
  method({
    name: 'concat',
    parameters: { other: string },
    result: 'String',
    summary: 'This text with another one behind it.',
    example: ['"a".concat("b")', '"ab"'],
    run: (text, { other }, call) => {
      const size = text.length + other.length
      if (tooLong(size)) throw call.failure('value_too_large', tooLong(size) as string)
      return text + other
    },
  }),
  overloaded({
    name: 'slice',
    result: 'String',
    summary: 'The part from one position up to another; without the second up to the end.',
    example: ['"abcd".slice(1, 3)', '"bc"'],
    signatures: [
      signature({ parameters: { start: int }, run: (text, { start }) => slice(text, start, text.length) }),
      signature({
        parameters: { start: int, end: int },
        run: (text, { start, end }) => slice(text, start, end),
      }),
    ],
  }),
])
