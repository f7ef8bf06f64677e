// Formats the lines of a difference: marks, indentation, and optional terminal colors.

type Tone = 'added' | 'removed' | 'changed' | 'title' | 'plain'

/** A line of a difference, without a newline. */
export interface DiffLine {
  readonly tone: Tone
  readonly text: string
}

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

export function markedLine(tone: 'added' | 'removed' | 'changed', text: string): DiffLine {
  return { tone, text: `${marks[tone]} ${text}` }
}

/** An empty line stays empty. */
export function indentLine({ tone, text }: DiffLine): DiffLine {
  return { tone, text: text === '' ? '' : `  ${text}` }
}

/** Ends each line with a newline. */
export function renderLines(lines: readonly DiffLine[], coloring: Coloring): string {
  return lines.map(line => `${coloring === 'ansi' ? color(line) : line.text}\n`).join('')
}

function color({ tone, text }: DiffLine): string {
  if (tone === 'plain') return text
  const content = text.trimStart()
  return `${' '.repeat(text.length - content.length)}${escapes[tone]}${content}${reset}`
}
