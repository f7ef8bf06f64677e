// Types with few members: a conversion to text, and for some types a constructor.

import { longCall } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { decodeBase64, encodeBase64 } from '../../values/base64.ts'
import { TransactionTime } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { integerOfText } from '../numbers.ts'
import { debugText } from '../text-of-value.ts'
import { Id, integerOf, type Module, type UserFunction, type Value } from '../value.ts'
import { entriesFor, type Members, members } from './entry.ts'
import { number, string } from './parameters.ts'
import { toText } from './to-text.ts'

const ofModule = entriesFor<Module>()

const functions = members('Function', [toText('(x => x).toString()', '"[function <lambda>]"')])

/** The members of the types in this file, by the kind of value. */
export const smallTypes = {
  boolean: members('Boolean', [toText('true.toString()', '"true"')]),
  bytes: members('Bytes', [
    toText('Bytes("AQI=").toString()', '"AQI="'),
    entriesFor<Uint8Array>().method('toBase64', {
      type: '() => String',
      summary: 'Converts the bytes to a base64 string.',
      example: ['Bytes("AQI").toBase64()', '"AQI="'],
      run: bytes => encodeBase64(bytes),
    }),
  ]),
  cursor: members('SetCursor', [toText('…', '…')]),
  function: functions,
  id: members('ID', [toText('ID("7").toString()', '"7"')]),
  lambda: functions,
  null: members('Null', [toText('null.toString()', '"null"', 'Returns the string `null`.')]),
  /** Int, Long and Double have the same members. */
  number: members('Number', [toText('(2.5).toString()', '"2.5"', 'Converts the number to a string.')]),
  'transaction time': members('TransactionTime', [
    toText('TransactionTime().toString()', '"[transaction time]"'),
  ]),
  'user function': members('UserFunction', [
    toText('shout.toString()', '"[function shout()]"'),
    entriesFor<UserFunction>().field('definition', {
      type: 'FunctionDef',
      summary: 'The document that defines the function.',
      example: ['shout.definition.name', '"shout"'],
      read: ({ definition }) => definition,
    }),
  ]),
  /** Queries of version 10 can read UUIDs, but only version 4 creates them. */
  uuid: members('UUID', [toText('…', '…')]),
}

/** Decodes the standard alphabet. Throws `invalid_argument` for any other text. */
function decodeBytes(text: string, call: Call): Uint8Array {
  longCall(text.length)
  const bytes = /[-_]/.test(text) ? undefined : decodeBase64(text)
  if (bytes === undefined) throw call.invalidArgument('encoded', msg`expected a base64 text`)
  return bytes
}

function fromBase64(name: string, query: string) {
  return ofModule.method(name, {
    parameters: { encoded: string },
    type: '(encoded: String) => Bytes',
    summary: 'Decodes a base64 string in the standard alphabet. An invalid string is an error.',
    example: [query, 'Bytes("AQI=")'],
    run: (_, { encoded }, call) => decodeBytes(encoded, call),
  })
}

export const bytesModule: Members = members(
  'Bytes',
  [fromBase64('fromBase64', 'Bytes.fromBase64("AQI=")')],
  fromBase64('apply', 'Bytes("AQI=")'),
)

function idOf(value: Value, call: Call): Id {
  const id = typeof value === 'string' ? integerOfText(value) : integerOf(value)
  if (id !== undefined) return new Id(id)
  throw call.failure('invalid_id', msg`\`${debugText(value, call)}\` is not a valid ID.`)
}

export const idModule: Members = members(
  'ID',
  [],
  ofModule.overloaded('apply', {
    type: '((id: String) => ID) & ((id: Number) => ID)',
    summary: 'Converts an integer or a string of decimal digits to an id.',
    example: ['ID("7")', '"7"'],
    signatures: [
      ofModule.signature({ parameters: { id: string }, run: (_, { id }, call) => idOf(id, call) }),
      ofModule.signature({ parameters: { id: number }, run: (_, { id }, call) => idOf(id, call) }),
    ],
  }),
)

export const transactionTimeModule: Members = members(
  'TransactionTime',
  [],
  ofModule.method('apply', {
    type: '() => TransactionTime',
    summary:
      'Returns a placeholder for the time at which the query commits, because this time is not known before the commit.',
    example: ['TransactionTime()', '…'],
    run: () => TransactionTime.time,
  }),
)
