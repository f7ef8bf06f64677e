// Texts for errors about null values.

import { type Message, msg } from '../../base/message.ts'
import type { Remark } from '../failure/query-failure.ts'
import { type NullCause, NullValue, type Value } from '../value.ts'

/** The hint with the origin of a null; empty for other values. */
export function createdHere(value: Value): Remark[] {
  if (value === null) return [{ name: 'hint', message: 'Null value created here', span: undefined }]
  if (!(value instanceof NullValue)) return []
  return [{ name: 'hint', message: 'Null value created here', span: value.span }]
}

/** The reason for a null in the error of `!`. */
export function causeText(cause: NullCause): Message {
  switch (cause.type) {
    case 'literal':
      return msg`Null literal value`
    case 'missing field':
      return msg`Null value, due to missing field \`${cause.field}\``
    case 'no element':
      return msg`Null value, due to ${cause.reason}`
  }
}
