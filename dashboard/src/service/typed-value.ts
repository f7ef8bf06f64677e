// A value in a field of one line: a text needs quotes only where it would be taken for something else.

import { NotationError, parseValue, printValue } from '../language.ts'
import { type Json, writeJson } from '../wire/json.ts'

/** The value of a text that was typed. */
export function valueOfText(text: string): Json {
  try {
    return parseValue(text.trim(), 'text')
  } catch (cause) {
    if (cause instanceof NotationError) return text
    throw cause
  }
}

/** A value as it would be typed. */
export function textOfValue(value: Json): string {
  if (typeof value !== 'string') return printValue(value, 'text')
  return typeof valueOfText(value) === 'string' ? value : writeJson(value)
}
