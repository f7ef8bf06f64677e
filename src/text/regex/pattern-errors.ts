// Errors of patterns, replacements and searches.

/**
 * Thrown for a pattern that is invalid in Java's syntax. As in Java, the message contains the reason and the offset in
 * code points.
 */
export class RegexSyntaxError extends Error {
  override name = 'RegexSyntaxError'
  constructor(reason: string, index: number) {
    super(`${reason} at index ${index}`)
  }
}

/** The pattern is valid in Java's syntax, but uses an unsupported feature. */
export class UnsupportedRegexError extends Error {
  override name = 'UnsupportedRegexError'
  /** The end of the sentence "the pattern uses …". */
  readonly feature: string
  constructor(feature: string) {
    super(feature)
    this.feature = feature
  }
}

/** The replacement refers to a group that the pattern does not have, or contains an incomplete escape or reference. */
export class ReplacementError extends Error {
  override name = 'ReplacementError'
}

/** The search exceeded its maximum number of steps. */
export class SearchTooLongError extends Error {
  override name = 'SearchTooLongError'
}
