// The values of a template are variables with names that no query can write, so lambdas keep those that they use.

/** The name of the variable that holds the value of a placeholder. */
export function placeholderName(index: number): string {
  return `<${index}>`
}
