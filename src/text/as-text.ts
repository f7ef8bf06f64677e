// Converts values to plain text, as `to_string` and `format` do.

import { formatDate } from '../values/date.ts'
import { javaDoubleText } from '../values/double-text.ts'
import { formatTime } from '../values/time.ts'
import { LocalDate, Time, Transient, Uuid, type Value } from '../values/value.ts'

/** The text of a scalar value; undefined for bytes, references and compound values. */
export function asText(value: Value): string | undefined {
  switch (typeof value) {
    case 'string':
      return value
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'number':
      return javaDoubleText(value)
  }
  if (value === null) return 'null'
  if (value instanceof Time) return formatTime(value)
  if (value instanceof LocalDate) return formatDate(value)
  if (value instanceof Uuid) return value.text
  return value instanceof Transient ? value.word : undefined
}
