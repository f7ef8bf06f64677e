// Trims texts as Java's String.trim does. FQL trims a text in this way before it converts the text to a value.

/**
 * Returns the text without the space and control characters (up to U+0020) at its ends. Unicode spaces are not removed.
 */
export function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && text.charCodeAt(start) <= 0x20) start++
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end--
  return start === 0 && end === text.length ? text : text.slice(start, end)
}
