// Formats rows as a table for people: aligned columns, two spaces apart, with control characters as escapes.

import { visible } from './terminal.ts'

/** The lines of a table; the first row is the header. */
export function rowsText(rows: readonly (readonly string[])[]): string {
  const shown = rows.map(row => row.map(visible))
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

/** A list as a table with a header, or as JSON. */
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
