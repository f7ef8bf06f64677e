// Code that is stored: bodies of functions, predicates of roles and access providers, computed fields. It is written in
// one of the languages, which one is told by its stored form: a lambda, or a text.

import { Lambda, type Value } from './value.ts'

/** Code in the language that it is written in. */
export type Code = Lambda | SourceCode

/** Code of version 10. */
export interface SourceCode {
  readonly language: '10'
  readonly source: string
  /** What errors call it, such as `*check_constraint:ok*`. */
  readonly name?: string
  /** An expression, not a function. */
  readonly isExpression?: true
}

/** The name of a language. */
export type LanguageName = Code['language']

/** The code that a stored value is; undefined when it is none. */
export function codeOf(stored: Value | undefined): Code | undefined {
  if (stored instanceof Lambda) return stored
  return typeof stored === 'string' ? { language: '10', source: stored } : undefined
}
