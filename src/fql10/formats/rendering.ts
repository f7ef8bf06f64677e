// Renders values as text: as JSON in the formats `simple` and `tagged`, and in the `decorated` format of the shell,
// which shows values as they appear in the text of a query. The context (`Rendering`) renders documents and sets, and
// provides the time of the transaction.

import { longCall, step } from '../../base/effort.ts'
import { encodeBase64 } from '../../values/base64.ts'
import { formatDate } from '../../values/date.ts'
import { javaDoubleText } from '../../values/double-text.ts'
import { quoteJson } from '../../values/json-text.ts'
import { formatTime } from '../../values/time.ts'
import type { Call } from '../call.ts'
import { tokenOf } from '../events/token.ts'
import { inBrackets, keyText, quoted } from '../text/quoted.ts'
import { debugText, displayText } from '../text-of-value.ts'
import {
  type Doc,
  fitsInt,
  isArray,
  isStruct,
  type SetValue,
  type Struct,
  type Tagged,
  type Value,
} from '../value.ts'

export interface Rendering {
  /** Reads documents and sets. */
  readonly call: Call
  /** May be a placeholder. */
  transactionTime(): string
  /** Returns JSON text. A set is shown as its first page or as a cursor. */
  encode(value: Doc | SetValue, tagged: boolean): string
  /** Returns decorated text. A set is shown as its first page or as a cursor. `level`: the indentation. */
  decorate(value: Doc | SetValue, level: number): string
}

const mark = '\u0001'
const escapedMark = '\u0001\u0002'

/**
 * The placeholder for the time of the transaction in decorated text, which {@link quoteDecorated} replaces. Strings and
 * keys never contain two marks in a row, because {@link escapeMarks} adds a character after each of their marks.
 */
export const decoratedTime = mark + mark

function escapeMarks(text: string): string {
  return text.replaceAll(mark, escapedMark)
}

/** Quotes decorated text as JSON. `timeMark` replaces the placeholders, and is not escaped. */
export function quoteDecorated(text: string, timeMark: string): string {
  const pieces = text.split(decoratedTime).map(piece => quoteJson(piece.replaceAll(escapedMark, mark)))
  return `"${pieces.map(piece => piece.slice(1, -1)).join(timeMark)}"`
}

/** All lines after the first line are indented by `level` levels. */
export function decorate(value: Value, rendering: Rendering, level = 0): string {
  step()
  if (typeof value === 'string') {
    const text = escapeMarks(value)
    return text.includes('\n') ? heredoc(text, level) : quoted(text)
  }
  if (typeof value === 'number') return doubleText(value)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) {
    return debugText(value, rendering.call)
  }
  if (isArray(value)) {
    const lines = value.map(element => decorate(element, rendering, level + 1))
    return inBrackets('[', lines, ']', level)
  }
  if (isStruct(value)) return decorateStruct(value, rendering, level)
  switch (value.kind) {
    case 'id':
      return `"${value.value}"`
    case 'transaction time':
      return `Time("${rendering.transactionTime()}")`
    case 'event source':
      return quoted(tokenOf(value, rendering.call))
    case 'lambda':
      return '"[function <lambda>]"'
    case 'function':
    case 'user function':
      return `"[function ${value.name}]"`
    case 'document':
    case 'set':
      return rendering.decorate(value, level)
  }
  return debugText(value, rendering.call)
}

function decorateStruct(struct: Struct, rendering: Rendering, level: number): string {
  const lines = Array.from(
    struct,
    ([key, value]) => `${keyText(escapeMarks(key))}: ${decorate(value, rendering, level + 1)}`,
  )
  return inBrackets('{', lines, '}', level)
}

function doubleText(value: number): string {
  if (Number.isFinite(value)) return javaDoubleText(value)
  return Number.isNaN(value) ? 'Math.NaN' : `${value < 0 ? '-' : ''}Math.Infinity`
}

/**
 * Indents the lines by `level + 1` levels. Returns a quoted string if the text contains all names that could end the
 * heredoc.
 */
function heredoc(text: string, level: number): string {
  const names = ['END', ...Array.from({ length: 10 }, (_, digit) => `END${digit}`)]
  const name = names.find(each => !text.includes(each))
  if (name === undefined) return quoted(text)
  const indent = '  '.repeat(level)
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
  return `<<-${name}\n${lines.map(line => `${indent}  ${line}`).join('\n')}\n${indent}${name}`
}

/** In the format `tagged`, the tag of a number names its type: Int, Long or Double. */
export function encodeJson(value: Value, rendering: Rendering, tagged: boolean): string {
  step()
  const tag = (name: string, text: string) => (tagged ? `{"@${name}":${quoteJson(text)}}` : quoteJson(text))
  switch (typeof value) {
    case 'string':
      longCall(value.length)
      return quoteJson(value)
    case 'boolean':
      return String(value)
    case 'bigint':
      return tagged ? tag(fitsInt(value) ? 'int' : 'long', String(value)) : String(value)
    case 'number':
      if (tagged) return tag('double', javaDoubleText(value))
      return Number.isFinite(value) ? javaDoubleText(value) : quoteJson(String(value))
  }
  if (value === null) return 'null'
  if (isArray(value)) return `[${value.map(each => encodeJson(each, rendering, tagged)).join(',')}]`
  if (isStruct(value)) return encodeStruct(value, rendering, tagged)
  if (value instanceof Uint8Array) return tag('bytes', encodeBase64(value))
  const object = value as Tagged
  switch (object.kind) {
    case 'null':
      return 'null'
    case 'long':
      return tagged ? tag('long', String(object.value)) : String(object.value)
    case 'time':
      return tag('time', formatTime(object))
    case 'transaction time':
      // The time may be a placeholder, which must not be escaped. So `tag` and `quoteJson` are not used.
      return tagged ? `{"@time":"${rendering.transactionTime()}"}` : `"${rendering.transactionTime()}"`
    case 'date':
      return tag('date', formatDate(object))
    case 'uuid':
      return tag('uuid', object.text)
    case 'module':
      return tag('mod', object.name)
    case 'event source':
      return tag('stream', tokenOf(object, rendering.call))
    case 'document':
    case 'set':
      return rendering.encode(object, tagged)
  }
  return quoteJson(displayText(object, rendering.call))
}

/** If `tagged`, an object with a key that looks like a tag gets the tag `@object`. */
function encodeStruct(struct: Struct, rendering: Rendering, tagged: boolean): string {
  let text = ''
  let looksTagged = false
  for (const [key, value] of struct) {
    if (key.startsWith('@')) looksTagged = true
    text += `${text === '' ? '' : ','}${quoteJson(key)}:${encodeJson(value, rendering, tagged)}`
  }
  return tagged && looksTagged ? `{"@object":{${text}}}` : `{${text}}`
}
