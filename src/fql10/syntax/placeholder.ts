// Defines the text and the variable of a template value. Queries cannot write the variable's name, so a lambda can
// capture it like any other variable.

/** The text of every template value. */
export const placeholderText = '<value>'

/** The name of the variable for a template value. */
export function placeholderName(index: number): string {
  return `<${index}>`
}
