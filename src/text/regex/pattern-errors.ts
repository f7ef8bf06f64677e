// Errors in patterns and replacements.

/**
 * The pattern is invalid in Java's syntax. The message is Java's message: the reason, and the offset in code points.
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
  /** The unsupported feature, as the end of the sentence "the pattern uses …". */
  readonly feature: string
  constructor(feature: string) {
    super(feature)
    this.feature = feature
  }
}

/** The replacement names a group that does not exist in the pattern, or has an incomplete escape or group. */
export class ReplacementError extends Error {
  override name = 'ReplacementError'
}

/** A search exceeded its maximum number of steps. */
export class SearchTooLongError extends Error {
  override name = 'SearchTooLongError'
}
