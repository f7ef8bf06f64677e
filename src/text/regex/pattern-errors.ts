// Errors of patterns and replacements.

/** The pattern is invalid in Java's syntax. The message gives the reason and the code point offset in Java's words. */
export class RegexSyntaxError extends Error {
  override name = 'RegexSyntaxError'
  constructor(reason: string, index: number) {
    super(`${reason} at index ${index}`)
  }
}

/** The pattern is valid in Java's syntax, but uses an unsupported feature. */
export class UnsupportedRegexError extends Error {
  override name = 'UnsupportedRegexError'
  /** The unsupported feature, worded to complete the sentence "the pattern uses …". */
  readonly feature: string
  constructor(feature: string) {
    super(feature)
    this.feature = feature
  }
}

/** The replacement names a group that the pattern does not have, or ends within an escape. */
export class ReplacementError extends Error {
  override name = 'ReplacementError'
}

/** A search has exceeded its maximum number of steps. */
export class SearchTooLongError extends Error {
  override name = 'SearchTooLongError'
}
