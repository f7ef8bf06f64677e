// Recognises texts in the wrong version of the language, so that an error can name the other version.

import { parseExpressions } from './parse.ts'
import { FqlSyntaxError } from './source.ts'

const stringsAndComments = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\/.*|\/\*[\s\S]*?\*\//g

/** Syntax of version 10 that version 4 lacks. Strings are empty: `""`. */
const syntax10 = new RegExp(
  [
    // Methods and fields of values: `Orders.all()`, `byId("")!.name`, `[1].map`, `(.price`, `.first()?.name`.
    String.raw`(?<![\w.)\]"])[A-Za-z_]\w*\s*\.\s*[a-z]\w*\s*\(`,
    String.raw`[)\]"!?]\s*\.\s*[a-z]`,
    String.raw`[(,]\s*\.\s*[a-z]`,
    // Statements, projections, operators and the assertion `!`.
    String.raw`\blet\s+\w+\s*(?::[^=]+)?=`,
    String.raw`\bif\s*\(`,
    String.raw`\)\s*\{`,
    String.raw`\bisa\b`,
    String.raw`[\w)\]"]\s*(?:==|!=|<=|>=|&&|\|\||\?\?|[-+*/%<](?!=))\s*[\w(["{.]`,
    String.raw`[\w)\]]!`,
  ].join('|'),
)

/** Returns whether a text that is invalid in version 4 has the syntax of version 10. */
export function looksLikeVersion10(text: string): boolean {
  const code = text.replace(stringsAndComments, '""')
  // The driver of version 4 is usually imported as `q`.
  return syntax10.test(code) && !/\bq\.[A-Z]/.test(code)
}

/** Returns whether a text that is invalid in version 10 is valid in version 4, and calls a function. */
export function isVersion4(text: string): boolean {
  try {
    return /\b[A-Z]\w*\s*\(/.test(text) && parseExpressions(text).length > 0
  } catch (cause) {
    if (cause instanceof FqlSyntaxError) return false
    throw cause
  }
}
