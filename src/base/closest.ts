// Suggests the word that a misspelled word probably means.

/**
 * The word with the smallest edit distance to a misspelled word, ignoring case. Returns undefined when every distance
 * exceeds a third of the length of `word`, or 1 for a shorter word than three letters.
 */
export function closestTo(word: string, words: Iterable<string>): string | undefined {
  let closest: string | undefined
  let least = Math.floor(Math.max(word.length, 3) / 3) + 1
  for (const candidate of words) {
    if (Math.abs(candidate.length - word.length) >= least) continue
    const changes = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (changes < least) {
      least = changes
      closest = candidate
    }
  }
  return closest
}

/** Damerau-Levenshtein distance: insertions, deletions, replacements and swaps of neighbouring characters. */
function editDistance(left: string, right: string): number {
  let before: readonly number[] = []
  let previous: readonly number[] = Array.from({ length: right.length + 1 }, (_, at) => at)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1]
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      const ways = [
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      ]
      current.push(Math.min(...ways))
    }
    before = previous
    previous = current
  }
  return previous[right.length] ?? 0
}
