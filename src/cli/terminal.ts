// What is written to terminals: colours, and characters that a terminal would obey instead of showing.

import { styleText } from 'node:util'

/** Where text goes to, and how wide that is. */
export interface Output {
  readonly write: (text: string) => unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/** A colour or another way of writing, or several. */
export type Format = Parameters<typeof styleText>[0]

/** Colours, where a person sees them. `NO_COLOR` switches them off. */
export function styleFor({ isTTY }: Pick<Output, 'isTTY'>): (format: Format, text: string) => string {
  const isWanted = isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
  return (format, text) => (isWanted ? styleText(format, text, { validateStream: false }) : text)
}

/**
 * Control characters, and those that have no width or turn the direction of what follows. Stored texts may hold them, and
 * make one thing look like another.
 */
const hidden = /(?![\n\t])[\p{Cc}\p{Cf}]/gu

/** The text with each such character as `\u` and its number; line ends and tabs stay. */
export function visible(text: string): string {
  return text.replace(hidden, found =>
    found
      .split('')
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** The text with a sign of one column in the place of each, for what is underlined. */
export function visibleInPlace(text: string): string {
  return text.replace(hidden, '\ufffd')
}
