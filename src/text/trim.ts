// Trims white space as Java's Character.isWhitespace defines it: no-break spaces do not count, the ASCII separators do.

/** Returns whether a UTF-16 unit is white space. All white space characters have one unit. */
function isWhitespace(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 9 && unit <= 13) || (unit >= 0x1c && unit <= 0x1f)
  if (unit >= 0x2000 && unit <= 0x200a) return unit !== 0x2007
  return unit === 0x1680 || unit === 0x2028 || unit === 0x2029 || unit === 0x205f || unit === 0x3000
}

/** The text without the white space at its start. */
export function trimStart(text: string): string {
  let start = 0
  while (start < text.length && isWhitespace(text.charCodeAt(start))) start++
  return text.slice(start)
}

/** The text without the white space at its end. */
export function trimEnd(text: string): string {
  let end = text.length
  while (end > 0 && isWhitespace(text.charCodeAt(end - 1))) end--
  return text.slice(0, end)
}
