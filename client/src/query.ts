// Queries as templates. Text between the placeholders is source; a value in a placeholder travels apart from it and is never
// parsed, so user input cannot become code.

/**
 * What a query may be given as a value: numbers and texts; `Date`, `Uint8Array` and `ArrayBuffer`; the classes of this package but
 * pages and UUIDs; arrays and plain objects of all these. A field that is `undefined` is left out; other `undefined`s, and objects
 * of other classes, are rejected when the query is sent.
 */
export type QueryValue = null | boolean | number | bigint | string | object

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
