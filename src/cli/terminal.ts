// Text for terminals: colours, and escapes for control characters.

import { styleText } from 'node:util'

/** A destination for text, and its width. */
export interface Output {
  readonly write: (text: string) => unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/** A colour or another style, or several. */
export type Format = Parameters<typeof styleText>[0]

/** Styles text on a terminal. `NO_COLOR` disables the styles. */
export function styleFor({ isTTY }: Pick<Output, 'isTTY'>): (format: Format, text: string) => string {
  const isWanted = isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
  return (format, text) => (isWanted ? styleText(format, text, { validateStream: false }) : text)
}

/**
 * Control characters, and characters without width or with an effect on the text direction. Stored texts may
 * contain such characters to deceive the reader.
 */
const hidden = /(?![\n\t])[\p{Cc}\p{Cf}]/gu

/** The text with each hidden character written as `\u` and its number. Line ends and tabs are unchanged. */
export function visible(text: string): string {
  return text.replace(hidden, found =>
    found
      .split('')
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** The text with a replacement character of one column for each hidden character, so that underlines stay aligned. */
export function visibleInPlace(text: string): string {
  return text.replace(hidden, '\ufffd')
}
