/** Escapes a text for use inside a JSON string. */
export function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
