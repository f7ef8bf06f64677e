// Marks in the shape of a query: where the name of a schema object stood that is known to exist, the shape that a language
// makes has a character of its own, which says which of the names it was. The query log puts `?` in its place, and keeps the
// places beside the record.

// Control characters, which no shape has; texts with them still take a byte for each character.
const firstMark = 0x80

/** Names that shapes can tell apart. */
export const markedNamesMax = 32

/** The mark of the name with that place in the list of names; undefined for a place without a mark. */
export function markOf(place: number): string | undefined {
  return place >= 0 && place < markedNamesMax ? String.fromCharCode(firstMark + place) : undefined
}

/** Which name a character (a UTF-16 unit) marks; undefined when it is no mark. */
export function markedName(unit: number): number | undefined {
  const place = unit - firstMark
  return place >= 0 && place < markedNamesMax ? place : undefined
}

/** Finds each mark. */
export const anyMark = /[\x80-\x9f]/g
