// Placeholders for schema object names in the shape of a query. Where a query names a known schema object, the shape
// contains one character that identifies the name. The query log writes `?` instead, and keeps the positions with the
// record.

// Control characters do not occur in shapes. Texts with these characters still take one byte per character in memory.
const firstMark = 0x80

/** Number of names that a shape can distinguish. */
export const markedNamesMax = 32

/** The mark of the name at this place in the list of names; undefined for a place without a mark. */
export function markOf(place: number): string | undefined {
  return place >= 0 && place < markedNamesMax ? String.fromCharCode(firstMark + place) : undefined
}

/** The place of the name that a character (a UTF-16 unit) marks; undefined when the character is not a mark. */
export function markedName(unit: number): number | undefined {
  const place = unit - firstMark
  return place >= 0 && place < markedNamesMax ? place : undefined
}

/** Matches each mark. */
export const anyMark = /[\x80-\x9f]/g
