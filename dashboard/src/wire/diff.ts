// Compares two texts line by line, and selects the lines to show.

import { diffArrays } from 'diff'

/**
 * With more changed lines, the whole text is shown as replaced, because the time of the comparison grows quadratically.
 */
const changesMax = 2000

/** Two lines side by side. A removed line is paired with the added line that replaces it. */
interface Pair {
  readonly left: string | undefined
  readonly right: string | undefined
  readonly isSame: boolean
}

/** The lines that a page shows. */
export interface Comparison {
  readonly isSame: boolean
  /** The pairs of lines near a change. Undefined marks omitted equal lines. */
  readonly pairs: readonly (Pair | undefined)[]
  /** Pairs that were left out at the end of `pairs`. */
  readonly more: number
}

/** Equal lines before and after a change. */
const contextLines = 3
const lineChars = 400
const pairsMax = 1000

/** Truncates long lines and long lists of differences. */
export function compare(left: string, right: string): Comparison {
  const pairs = pairsOf(left, right)
  const near = nearChanges(pairs)
  return {
    isSame: pairs.every(pair => pair.isSame),
    pairs: near
      .slice(0, pairsMax)
      .map(pair => pair && { ...pair, left: cut(pair.left), right: cut(pair.right) }),
    more: Math.max(0, near.length - pairsMax),
  }
}

function cut(line: string | undefined): string | undefined {
  return line !== undefined && line.length > lineChars
    ? `${line.slice(0, lineChars)}… (${line.length.toLocaleString('en')} characters)`
    : line
}

function pairsOf(left: string, right: string): readonly Pair[] {
  const before = left.split('\n')
  const after = right.split('\n')
  const changes = diffArrays(before, after, { maxEditLength: changesMax }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ]
  const pairs: Pair[] = []
  let lefts: readonly string[] = []
  let rights: readonly string[] = []
  const flush = () => {
    for (let at = 0; at < Math.max(lefts.length, rights.length); at++)
      pairs.push({ left: lefts[at], right: rights[at], isSame: false })
    lefts = []
    rights = []
  }
  for (const { added, removed, value } of changes) {
    if (removed) lefts = [...lefts, ...value]
    else if (added) rights = [...rights, ...value]
    else {
      flush()
      for (const text of value) pairs.push({ left: text, right: text, isSame: true })
    }
  }
  flush()
  return pairs
}

/** Returns the pairs near a change. Undefined replaces all equal lines between them. */
function nearChanges(pairs: readonly Pair[]): readonly (Pair | undefined)[] {
  const shown = new Set<number>()
  for (const [at, pair] of pairs.entries()) {
    if (pair.isSame) continue
    for (let near = at - contextLines; near <= at + contextLines; near++) shown.add(near)
  }
  const result: (Pair | undefined)[] = []
  for (const [at, pair] of pairs.entries()) {
    if (shown.has(at)) result.push(pair)
    else if (result.at(-1) !== undefined || at === 0) result.push(undefined)
  }
  return result
}
