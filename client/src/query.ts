// Queries as template strings. The text between placeholders is source code. Values in placeholders are sent separately
// and never parsed, so user input cannot become code.

/**
 * A value in a query:
 * - a number, a text, a boolean or null
 * - a `Date`, `Uint8Array` or `ArrayBuffer`
 * - an instance of a class of this package, but not a page or a UUID
 * - an array or a plain object of values
 *
 * A field that is `undefined` is left out. Other `undefined` values, and objects of other classes, are rejected when
 * the query is sent.
 */
export type QueryValue = null | boolean | number | bigint | string | object

/** The content of a placeholder: a value, or a query that becomes part of the text. */
export type QueryArgument = QueryValue | Query

/** A query, created by {@link fql}. The number of texts is the number of values plus 1. */
export class Query {
  readonly texts: readonly string[]
  readonly values: readonly QueryArgument[]

  constructor(texts: readonly string[], values: readonly QueryArgument[]) {
    this.texts = texts
    this.values = values
  }
}

/**
 * Creates a query from a template: `` fql`items.where(.price < ${5})` ``. Queries nest, even inside arrays and objects.
 * The text follows the rules of JavaScript templates, so write each backslash of the query twice. Throws a `TypeError`
 * for an escape that JavaScript does not support.
 */
export function fql(texts: TemplateStringsArray, ...values: readonly QueryArgument[]): Query {
  for (const [index, text] of texts.entries()) {
    // JavaScript passes undefined for a text with an invalid escape, although the type is `string`.
    if ((text as string | undefined) === undefined)
      throw new TypeError(`invalid escape in the query text ${texts.raw[index]}: write a backslash twice`)
  }
  return new Query([...texts], values)
}
