// Values in single-line fields. A text needs quotes only if the text would be parsed as another type.

import { NotationError, parseValue, printValue } from '../language.ts'
import { type Json, writeJson } from '../wire/json.ts'

/** Parses typed text; text that is not a value is a string. */
export function valueOfText(text: string): Json {
  try {
    return parseValue(text.trim(), 'text')
  } catch (cause) {
    if (cause instanceof NotationError) return text
    throw cause
  }
}

/** The text to type for a value. */
export function textOfValue(value: Json): string {
  if (typeof value !== 'string') return printValue(value, 'text')
  return typeof valueOfText(value) === 'string' ? value : writeJson(value)
}
