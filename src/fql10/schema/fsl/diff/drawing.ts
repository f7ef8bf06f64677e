// Formats the lines of a difference: marks, indentation, and optional terminal colors.

/** The kind of a line: an addition, a removal, a change, a heading, or an unchanged line. */
type Tone = 'added' | 'removed' | 'changed' | 'title' | 'plain'

/** A line of a difference, without a newline. */
export interface DiffLine {
  readonly tone: Tone
  readonly text: string
}

/** Terminal colors, or none. */
export type Coloring = 'ansi' | undefined

const escapes: Readonly<Record<Tone, string>> = {
  added: '\u001b[32m',
  removed: '\u001b[31m',
  changed: '\u001b[33m',
  title: '\u001b[1;34m',
  plain: '',
}

const reset = '\u001b[0m'

const marks = { added: '+', removed: '-', changed: '~' } as const

/** A line about an addition, a removal or a change, with its mark. */
export function markedLine(tone: 'added' | 'removed' | 'changed', text: string): DiffLine {
  return { tone, text: `${marks[tone]} ${text}` }
}

/** A line with one more level of indentation. An empty line stays empty. */
export function indentLine({ tone, text }: DiffLine): DiffLine {
  return { tone, text: text === '' ? '' : `  ${text}` }
}

/** The text of lines, each with a newline. */
export function renderLines(lines: readonly DiffLine[], coloring: Coloring): string {
  return lines.map(line => `${coloring === 'ansi' ? color(line) : line.text}\n`).join('')
}

function color({ tone, text }: DiffLine): string {
  if (tone === 'plain') return text
  const content = text.trimStart()
  return `${' '.repeat(text.length - content.length)}${escapes[tone]}${content}${reset}`
}
