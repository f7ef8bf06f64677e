// Text on terminals: colours, escapes for control characters, tables and counts. Also asks the user to confirm a
// change.

import { createInterface } from 'node:readline/promises'
import { styleText } from 'node:util'
import { CommandError } from './command.ts'

/** A destination for text, such as a terminal. */
export interface Output {
  readonly write: (text: string) => unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

export type Format = Parameters<typeof styleText>[0]

/** `NO_COLOR` disables the styles. */
export function styleFor({ isTTY }: Pick<Output, 'isTTY'>): (format: Format, text: string) => string {
  const isWanted = isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
  return (format, text) => (isWanted ? styleText(format, text, { validateStream: false }) : text)
}

/**
 * Control characters, characters without width, and characters that change the text direction. Stored texts may contain
 * them to deceive the user.
 */
const hidden = /(?![\n\t])[\p{Cc}\p{Cf}]/gu

/** Writes hidden characters as `\u` and their number. Line ends and tabs are unchanged. */
export function escapeHidden(text: string): string {
  return text.replace(hidden, found =>
    found
      .split('')
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** Writes a line to standard output, with hidden characters escaped. */
export function printLine(line: string): void {
  process.stdout.write(`${escapeHidden(line)}\n`)
}

/** Replaces each hidden character with a character that is one column wide, so that underlines stay aligned. */
export function escapeHiddenAligned(text: string): string {
  return text.replace(hidden, '\ufffd')
}

/** Returns a text such as `1 file` or `2 files`. */
export function quantity(count: number | string, one: string, many = `${one}s`): string {
  return `${count} ${String(count) === '1' ? one : many}`
}

/** Pads the cells, so that the columns are aligned. */
export function rowsText(rows: readonly (readonly string[])[]): string {
  const shown = rows.map(row => row.map(escapeHidden))
  const widths: number[] = []
  for (const row of shown)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  return shown
    .map(
      row =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

/** A table with a header, or JSON. */
export function listText<K extends string>(
  columns: readonly K[],
  rows: readonly Readonly<Record<K, string>>[],
  asJson: boolean,
): string {
  if (asJson) return `${JSON.stringify(rows)}\n`
  if (rows.length === 0) return ''
  return rowsText([
    columns.map(column => column.toUpperCase().replaceAll('_', ' ')),
    ...rows.map(row => columns.map(column => row[column])),
  ])
}

/**
 * Asks the user, or returns true for `yes` and false for a dry run. Throws {@link CommandError} if a question is
 * necessary and there is no terminal.
 */
export async function isConfirmed(
  { dryRun, yes }: { readonly dryRun?: boolean; readonly yes: boolean },
  question: string,
): Promise<boolean> {
  if (dryRun) return false
  if (yes) return true
  if (!process.stdin.isTTY)
    throw new CommandError('nothing was changed: without a terminal, give --yes to confirm')
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await lines.question(`${question} [y/N] `)
  lines.close()
  return /^y(es)?$/i.test(answer.trim())
}
