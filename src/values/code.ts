// Stored code: bodies of functions, predicates of roles and access providers, computed fields. A lambda is code of
// version 4, and a string is code of version 10.

import { Lambda, type Value } from './value.ts'

export type Code = Lambda | SourceCode

/** Code of version 10. */
export interface SourceCode {
  readonly language: '10'
  readonly source: string
  /** The name that errors give to the code, such as `*check_constraint:ok*`. */
  readonly name?: string
  /** Undefined if the source is a function. */
  readonly isExpression?: true
}

export type CodeLanguageName = Code['language']

/** GraphQL has no stored code. */
export type LanguageName = CodeLanguageName | 'graphql'

/** Returns undefined if the value is not code. */
export function codeOf(stored: Value | undefined): Code | undefined {
  if (stored instanceof Lambda) return stored
  return typeof stored === 'string' ? { language: '10', source: stored } : undefined
}
