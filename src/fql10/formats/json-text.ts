// Renders values as JSON text in the formats `simple` and `tagged`. The width of a number determines its tag, never its
// value.

import { longCall, step } from '../../base/effort.ts'
import { encodeBase64 } from '../../values/base64.ts'
import { formatDate } from '../../values/date.ts'
import { javaDoubleText } from '../../values/double-text.ts'
import { quoteJson } from '../../values/json-text.ts'
import { formatTime } from '../../values/time.ts'
import { tokenOf } from '../events/token.ts'
import { displayText } from '../text-of-value.ts'
import { fitsInt, isArray, isStruct, type Struct, type Value } from '../value.ts'
import type { Rendering } from './rendering.ts'

/** The JSON text of a value. */
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
  const tagged_ = value as Tagged
  switch (tagged_.kind) {
    case 'null':
      return 'null'
    case 'long':
      return tagged ? tag('long', String(tagged_.value)) : String(tagged_.value)
    case 'time':
      return tag('time', formatTime(tagged_))
    case 'transaction time':
      // The placeholder must not be escaped.
      return tagged ? `{"@time":"${rendering.transactionTime()}"}` : `"${rendering.transactionTime()}"`
    case 'date':
      return tag('date', formatDate(tagged_))
    case 'uuid':
      return tag('uuid', tagged_.text)
    case 'module':
      return tag('mod', tagged_.name)
    case 'event source':
      return tag('stream', tokenOf(tagged_, rendering.call))
    case 'document':
    case 'set':
      return rendering.encode(tagged_, tagged)
  }
  return quoteJson(displayText(tagged_, rendering.call))
}

type Tagged = Extract<Value, { readonly kind: string }>

/** The JSON text of a plain object. If a key looks like a tag, the object gets the tag `@object`. */
function encodeStruct(struct: Struct, rendering: Rendering, tagged: boolean): string {
  let text = ''
  let looksTagged = false
  for (const [key, value] of struct) {
    if (key.startsWith('@')) looksTagged = true
    text += `${text === '' ? '' : ','}${quoteJson(key)}:${encodeJson(value, rendering, tagged)}`
  }
  return tagged && looksTagged ? `{"@object":{${text}}}` : `{${text}}`
}
