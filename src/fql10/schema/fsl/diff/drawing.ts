// What differences look like: marks, indentation, and the colours of a terminal for who asked for them.

/** What a line tells: something that comes, goes or changes, a heading, or something that stays. */
type Tone = 'added' | 'removed' | 'changed' | 'title' | 'plain'

/** A line of a difference, without its end. */
export interface DiffLine {
  readonly tone: Tone
  readonly text: string
}

/** Colours for a terminal, or none. */
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

/** The line that tells of something that comes, goes or changes, with its mark in front. */
export function marked(tone: 'added' | 'removed' | 'changed', text: string): DiffLine {
  return { tone, text: `${marks[tone]} ${text}` }
}

/** A line further to the right by some blanks; an empty one stays empty. */
export function indented({ tone, text }: DiffLine, blanks: number): DiffLine {
  return { tone, text: text === '' ? '' : ' '.repeat(blanks) + text }
}

/** The text of lines, each with its end. */
export function drawn(lines: readonly DiffLine[], coloring: Coloring): string {
  return lines.map(line => `${coloring === 'ansi' ? colored(line) : line.text}\n`).join('')
}

function colored({ tone, text }: DiffLine): string {
  if (tone === 'plain') return text
  const told = text.trimStart()
  return `${' '.repeat(text.length - told.length)}${escapes[tone]}${told}${reset}`
}
