// Stored code: bodies of functions, predicates of roles and access providers, computed fields. The type of the stored
// value determines the language. A lambda is code of version 4, and a string is code of version 10.

import { Lambda, type Value } from './value.ts'

/** Stored code in one of the languages. */
export type Code = Lambda | SourceCode

/** Code of version 10. */
export interface SourceCode {
  readonly language: '10'
  readonly source: string
  /** The name that errors give to the code, such as `*check_constraint:ok*`. */
  readonly name?: string
  /** True if the source is an expression, undefined if the source is a function. */
  readonly isExpression?: true
}

/** The name of a language of stored code. */
export type CodeLanguageName = Code['language']

/** The name of a language of requests. GraphQL has no stored code. */
export type LanguageName = CodeLanguageName | 'graphql'

/** A stored value as code; undefined if the value is not code. */
export function codeOf(stored: Value | undefined): Code | undefined {
  if (stored instanceof Lambda) return stored
  return typeof stored === 'string' ? { language: '10', source: stored } : undefined
}
