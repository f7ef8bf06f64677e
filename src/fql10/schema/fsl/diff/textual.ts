// The difference of two sets of schema files as lines of text: what is kept, added, removed, in hunks with a few lines
// around them.

import { diffArrays } from 'diff'
import { step } from '../../../../base/effort.ts'
import { type Coloring, type DiffLine, drawn } from './drawing.ts'

/** The texts of files by their names. */
type FileTexts = ReadonlyMap<string, string>

/** Unchanged lines that are shown around a change. */
const contextRows = 3

/**
 * Removed and added lines up to which the shortest difference is looked for, which costs their square; what differs in
 * more is told as replaced as a whole.
 */
const editsMax = 2000

/** A line of two texts side by side: one of both, of one of them, or one that takes the place of another. */
interface Row {
  readonly before: string | undefined
  readonly after: string | undefined
}

/**
 * The difference of the files of two schemas, by their names, with an empty line between two files; `''` where all texts
 * are the same.
 */
export function textualDiff(before: FileTexts, after: FileTexts, coloring: Coloring): string {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort((left, right) =>
    left < right ? -1 : 1,
  )
  const files = names.flatMap(name => {
    const lines = hunkLines(rowsOf(linesOf(before.get(name)), linesOf(after.get(name))))
    const title: DiffLine = { tone: 'title', text: name }
    return lines.length === 0 ? [] : [drawn([title, ...lines], coloring)]
  })
  return files.join('\n')
}

function linesOf(text: string | undefined): readonly string[] {
  if (text === undefined || text === '') return []
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Two texts side by side. Lines that are removed and added at one place replace each other, one by one. */
function rowsOf(before: readonly string[], after: readonly string[]): readonly Row[] {
  step(before.length + after.length)
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let same = 0
  const most = Math.min(before.length, after.length) - start
  while (same < most && before.at(-1 - same) === after.at(-1 - same)) same++
  return [
    ...before.slice(0, start).map(keptRow),
    ...changedRows(before.slice(start, before.length - same), after.slice(start, after.length - same)),
    ...before.slice(before.length - same).map(keptRow),
  ]
}

function keptRow(line: string): Row {
  return { before: line, after: line }
}

function changedRows(before: readonly string[], after: readonly string[]): readonly Row[] {
  const changes = diffArrays([...before], [...after], { maxEditLength: editsMax })
  if (changes === undefined) {
    step(editsMax * editsMax)
    return replacedRows(before, after)
  }
  const rows: Row[] = []
  let removed: readonly string[] = []
  let added: readonly string[] = []
  let edits = 0
  for (const change of changes) {
    if (change.removed) removed = change.value
    else if (change.added) added = change.value
    else {
      rows.push(...replacedRows(removed, added), ...change.value.map(keptRow))
      removed = added = []
    }
    if (change.removed || change.added) edits += change.count
  }
  step(edits * edits)
  return [...rows, ...replacedRows(removed, added)]
}

function replacedRows(removed: readonly string[], added: readonly string[]): readonly Row[] {
  const count = Math.max(removed.length, added.length)
  return Array.from({ length: count }, (_, at) => ({ before: removed[at], after: added[at] }))
}

function isKept({ before, after }: Row): boolean {
  return before === after
}

/**
 * The hunks of two texts; none where they are the same. Lines are numbered as in the new text, as far as there are rows.
 */
function hunkLines(rows: readonly Row[]): readonly DiffLine[] {
  const lines: DiffLine[] = []
  let number = 0
  let counted = 0
  const numberOf = (at: number) => {
    for (; counted < at; counted++) if (rows[counted]?.after !== undefined) number++
    return number
  }
  for (let at = nextChange(rows, 0); at < rows.length; ) {
    let end = at + 1
    for (let next = nextChange(rows, end); next < rows.length && next - end <= 2 * contextRows; ) {
      end = next + 1
      next = nextChange(rows, end)
    }
    const first = Math.max(0, numberOf(at) - contextRows) + 1
    const last = Math.min(numberOf(end) + contextRows, rows.length)
    lines.push({ tone: 'title', text: `@ line ${first} to ${last}` })
    const shown = rows.slice(Math.max(0, at - contextRows), end + contextRows)
    for (const row of shown) lines.push(...rowLines(row))
    at = nextChange(rows, end)
  }
  return lines
}

function nextChange(rows: readonly Row[], from: number): number {
  let at = from
  while (at < rows.length && isKept(rows[at] as Row)) at++
  return at
}

function rowLines(row: Row): readonly DiffLine[] {
  const { before, after } = row
  if (isKept(row)) return [{ tone: 'plain', text: before === '' ? '' : `  ${before}` }]
  const lines: DiffLine[] = []
  if (before !== undefined) lines.push({ tone: 'removed', text: before === '' ? '-' : `- ${before}` })
  if (after !== undefined) lines.push({ tone: 'added', text: after === '' ? '+' : `+ ${after}` })
  return lines
}
