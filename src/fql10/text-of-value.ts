// Converts values to text: for display (`toString`, templates, `log`), and as literals (`dbg`, elements of arrays).

import { step } from '../base/effort.ts'
import { encodeBase64 } from '../values/base64.ts'
import { formatDate } from '../values/date.ts'
import { javaDoubleText } from '../values/double-text.ts'
import { formatTime } from '../values/time.ts'
import type { Call } from './call.ts'
import { keyText, quoted } from './text/quoted.ts'
import { Doc, isArray, isStruct, type Struct, type Tagged, type Value } from './value.ts'

/** The text of a whole double without an exponent: the shortest digits that identify the double, padded with zeros. */
function wholeText(double: number): string {
  const text = String(double)
  if (!text.includes('e')) return Object.is(double, -0) ? '-0' : text
  const [digits = '', exponent = '0'] = text.split('e')
  const sign = digits.startsWith('-') ? '-' : ''
  const bare = digits.replace('-', '').replace('.', '')
  return sign + bare.padEnd(Number(exponent) + 1, '0')
}

export function displayText(value: Value, call: Call): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return Number.isInteger(value) ? wholeText(value) : javaDoubleText(value)
  if (typeof value === 'object' && value !== null && 'kind' in value) {
    switch (value.kind) {
      case 'time':
        return formatTime(value)
      case 'date':
        return formatDate(value)
      case 'uuid':
        return value.text
      case 'id':
        return String(value.value)
      case 'transaction time':
        return '[transaction time]'
      case 'cursor':
        return value.text
    }
  }
  return value instanceof Uint8Array ? encodeBase64(value) : debugText(value, call)
}

/** Documents within a document are shown as references. */
export function debugText(value: Value, call: Call, isWithinDocument = false): string {
  step()
  switch (typeof value) {
    case 'string':
      return quoted(value)
    case 'number':
      return javaDoubleText(value)
    case 'bigint':
    case 'boolean':
      return String(value)
  }
  if (value === null) return 'null'
  if (isArray(value))
    return `[${value.map(element => debugText(element, call, isWithinDocument)).join(', ')}]`
  if (isStruct(value)) return structText(value, call, isWithinDocument)
  if (value instanceof Uint8Array) return `Bytes("${encodeBase64(value)}")`
  if (isWithinDocument && value instanceof Doc)
    return `[doc ${value.name ?? value.ref.id} in ${value.collection.name}]`
  return taggedText(value as Tagged, call)
}

function structText(struct: Struct, call: Call, isWithinDocument: boolean): string {
  if (struct.size === 0) return '{}'
  const fields = [...struct].map(
    ([key, value]) => `${keyText(key)}: ${debugText(value, call, isWithinDocument)}`,
  )
  return `{ ${fields.join(', ')} }`
}

function taggedText(value: Tagged, call: Call): string {
  switch (value.kind) {
    case 'null':
      return 'null'
    case 'long':
      return String(value.value)
    case 'time':
      return `Time("${formatTime(value)}")`
    case 'date':
      return `Date("${formatDate(value)}")`
    case 'uuid':
      return `UUID("${value.text}")`
    case 'transaction time':
      return 'TransactionTime()'
    case 'id':
      return `ID("${value.value}")`
    case 'document':
      return docText(value, call)
    case 'module':
      return value.path
    case 'set':
      return '[set]'
    case 'cursor':
      return `"${value.text}"`
    case 'event source':
      return '[event source]'
    case 'lambda':
      return '[function <lambda>]'
    case 'function':
    case 'user function':
      return `[function ${value.name}()]`
  }
}

function docText(doc: Doc, call: Call): string {
  const { world } = call.evaluation
  return world.documents.absence(doc, call) === undefined
    ? structText(world.documents.fields(doc, call), call, true)
    : 'null'
}
