// Names in schema files: those that are written as they are, and those that need quotes.

import { isKeyword } from '../syntax/reader.ts'

/** Whether a text is an identifier: it may stand without quotes, and be the name of a field. */
export function isPlainName(text: string): boolean {
  return /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(text) && !isKeyword(text)
}
