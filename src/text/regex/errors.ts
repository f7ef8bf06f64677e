// What can be wrong with a pattern or a replacement.

/** The pattern is none in Java's syntax; the message says why, and at which code point, in Java's words. */
export class RegexSyntaxError extends Error {
  override name = 'RegexSyntaxError'
  constructor(reason: string, index: number) {
    super(`${reason} at index ${index}`)
  }
}

/** The pattern is one in Java's syntax, but asks for something that is not supported. */
export class UnsupportedRegexError extends Error {
  override name = 'UnsupportedRegexError'
  /** What is not supported, to stand behind "uses". */
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

/** A search has taken more steps than it may. */
export class SearchTooLongError extends Error {
  override name = 'SearchTooLongError'
}
