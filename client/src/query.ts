// Queries as templates. Text between the placeholders is source; a value in a placeholder travels apart from it and is never
// parsed, so user input cannot become code.

import type {
  Document,
  DocumentRef,
  Double,
  LocalDate,
  Module,
  NamedDocument,
  NamedRef,
  NullDocument,
  Time,
} from './values.ts'

/** What a query may be given as a value. `undefined` leaves a field of an object out, and is rejected elsewhere. */
export type QueryValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Date
  | Uint8Array
  | ArrayBuffer
  | Time
  | LocalDate
  | Double
  | Module
  | Document
  | DocumentRef
  | NamedDocument
  | NamedRef
  | NullDocument
  | readonly QueryArgument[]
  | { readonly [field: string]: QueryArgument | undefined }

/** What stands in a placeholder: a value, or a query that becomes part of the text. */
export type QueryArgument = QueryValue | Query

/** A query, made by {@link fql}: as many texts as placeholders, and one more. */
export class Query {
  readonly texts: readonly string[]
  readonly values: readonly QueryArgument[]

  constructor(texts: readonly string[], values: readonly QueryArgument[]) {
    this.texts = texts
    this.values = values
  }
}

/**
 * Makes a query of a template: `` fql`items.where(.price < ${5})` ``. Queries nest, also inside arrays and objects. Text is that of
 * a JavaScript template, where a backslash for the query is written twice. Throws a `TypeError` for an escape that
 * JavaScript does not know.
 */
export function fql(texts: TemplateStringsArray, ...values: readonly QueryArgument[]): Query {
  for (const [index, text] of texts.entries()) {
    // JavaScript has no text for what it cannot read, whatever the type says.
    if ((text as string | undefined) === undefined)
      throw new TypeError(`invalid escape in the query text ${texts.raw[index]}: write a backslash twice`)
  }
  return new Query([...texts], values)
}
