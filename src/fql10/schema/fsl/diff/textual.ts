// Compares two sets of schema files line by line. The result consists of hunks with a few lines of context.

import { diffArrays } from 'diff'
import { step } from '../../../../base/effort.ts'
import { type Coloring, type DiffLine, renderLines } from './drawing.ts'

/** The texts of files by name. */
type FileTexts = ReadonlyMap<string, string>

/** The number of unchanged lines that are shown before and after a change. */
const contextPairs = 3

/**
 * Maximum number of changed lines for which the shortest difference is computed, because the cost grows with the square
 * of this number. If more lines have changed, one replacement covers all lines from the first to the last difference.
 */
const editsMax = 2000

/** Aligned lines of the old and the new text. A missing line is undefined. */
interface LinePair {
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Returns the differences by file name, with an empty line between files. `''` if all texts are equal. */
export function textualDiff(before: FileTexts, after: FileTexts, coloring: Coloring): string {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort((left, right) =>
    left < right ? -1 : 1,
  )
  const files = names.flatMap(name => {
    const lines = hunkLines(pairLines(linesOf(before.get(name)), linesOf(after.get(name))))
    const title: DiffLine = { tone: 'title', text: name }
    return lines.length === 0 ? [] : [renderLines([title, ...lines], coloring)]
  })
  return files.join('\n')
}

function linesOf(text: string | undefined): readonly string[] {
  if (text === undefined || text === '') return []
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Removed lines and added lines at the same position form replacements. */
function pairLines(before: readonly string[], after: readonly string[]): readonly LinePair[] {
  step(before.length + after.length)
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let same = 0
  const most = Math.min(before.length, after.length) - start
  while (same < most && before.at(-1 - same) === after.at(-1 - same)) same++
  return [
    ...before.slice(0, start).map(unchangedPair),
    ...changedPairs(before.slice(start, before.length - same), after.slice(start, after.length - same)),
    ...before.slice(before.length - same).map(unchangedPair),
  ]
}

function unchangedPair(line: string): LinePair {
  return { before: line, after: line }
}

function changedPairs(before: readonly string[], after: readonly string[]): readonly LinePair[] {
  const changes = diffArrays([...before], [...after], { maxEditLength: editsMax })
  if (changes === undefined) {
    step(editsMax * editsMax)
    return replacedPairs(before, after)
  }
  const pairs: LinePair[] = []
  let removed: readonly string[] = []
  let added: readonly string[] = []
  let edits = 0
  for (const change of changes) {
    if (change.removed) removed = change.value
    else if (change.added) added = change.value
    else {
      pairs.push(...replacedPairs(removed, added), ...change.value.map(unchangedPair))
      removed = added = []
    }
    if (change.removed || change.added) edits += change.count
  }
  step(edits * edits)
  return [...pairs, ...replacedPairs(removed, added)]
}

function replacedPairs(removed: readonly string[], added: readonly string[]): readonly LinePair[] {
  const count = Math.max(removed.length, added.length)
  return Array.from({ length: count }, (_, at) => ({ before: removed[at], after: added[at] }))
}

function isKept({ before, after }: LinePair): boolean {
  return before === after
}

/**
 * Line numbers refer to the new text. The last line number in a hunk's title can exceed the number of lines in the new
 * text, because `pairs` also contains removed lines.
 */
function hunkLines(pairs: readonly LinePair[]): readonly DiffLine[] {
  const lines: DiffLine[] = []
  let number = 0
  let counted = 0
  const numberOf = (at: number) => {
    for (; counted < at; counted++) if (pairs[counted]?.after !== undefined) number++
    return number
  }
  for (let at = nextChange(pairs, 0); at < pairs.length; ) {
    let end = at + 1
    for (let next = nextChange(pairs, end); next < pairs.length && next - end <= 2 * contextPairs; ) {
      end = next + 1
      next = nextChange(pairs, end)
    }
    const first = Math.max(0, numberOf(at) - contextPairs) + 1
    const last = Math.min(numberOf(end) + contextPairs, pairs.length)
    lines.push({ tone: 'title', text: `@ line ${first} to ${last}` })
    const shown = pairs.slice(Math.max(0, at - contextPairs), end + contextPairs)
    for (const pair of shown) lines.push(...linesOfPair(pair))
    at = nextChange(pairs, end)
  }
  return lines
}

function nextChange(pairs: readonly LinePair[], from: number): number {
  let at = from
  while (at < pairs.length && isKept(pairs[at] as LinePair)) at++
  return at
}

function linesOfPair(pair: LinePair): readonly DiffLine[] {
  const { before, after } = pair
  if (isKept(pair)) return [{ tone: 'plain', text: before === '' ? '' : `  ${before}` }]
  const lines: DiffLine[] = []
  if (before !== undefined) lines.push({ tone: 'removed', text: before === '' ? '-' : `- ${before}` })
  if (after !== undefined) lines.push({ tone: 'added', text: after === '' ? '+' : `+ ${after}` })
  return lines
}
