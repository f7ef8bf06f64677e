// Trims texts as Java's String.trim does, which FQL applies before it converts a text to a value.

/** Removes space and control characters (up to U+0020), but no Unicode spaces. */
export function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && text.charCodeAt(start) <= 0x20) start++
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end--
  return start === 0 && end === text.length ? text : text.slice(start, end)
}
