// The types of operators, which the library does not declare.

import { librarySignature } from './annotations.ts'
import { booleanType, numberType, type Type } from './terms.ts'

const comparison = '(Any, Any) => Boolean'
const arithmetic = '(Number, Number) => Number'

/** The types of binary operators, as functions of both operands. */
export const operatorTexts: Readonly<Record<string, string>> = {
  '==': comparison,
  '!=': comparison,
  '>': comparison,
  '<': comparison,
  '>=': comparison,
  '<=': comparison,
  '+': '((Number, Number) => Number) & ((String, String) => String)',
  '-': arithmetic,
  '*': arithmetic,
  '/': arithmetic,
  '%': arithmetic,
  '&': arithmetic,
  '|': arithmetic,
  '^': arithmetic,
  '**': arithmetic,
  '&&': '(Boolean, Boolean) => Boolean',
  '||': '(Boolean, Boolean) => Boolean',
}

export const operators: Readonly<Record<string, Type>> = Object.fromEntries(
  Object.entries(operatorTexts).map(([operator, text]) => [operator, librarySignature(text).type]),
)

/** The type of a unary operator's operand, and of its result. */
export const unaryOperators = { '-': numberType, '~': numberType, '!': booleanType } as const
