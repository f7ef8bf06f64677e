// How the value of a template stands in the text of its query, and what the variable is called that holds it: no
// query can write such a name, so lambdas keep those that they use.

/** The text of every value. */
export const placeholderText = '<value>'

/** The name of the variable that holds the value of a placeholder. */
export function placeholderName(index: number): string {
  return `<${index}>`
}
