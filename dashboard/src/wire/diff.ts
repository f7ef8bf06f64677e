// The differences between two texts, line by line, and what is shown of them.

/** A line of a comparison: in both texts, or only in the left or right one. */
interface DiffLine {
  readonly kind: 'same' | 'left' | 'right'
  readonly text: string
}

/** Past this product of lines the middle is shown as replaced as a whole. */
const cellsMax = 4_000_000

/** The lines of both texts in order; what they share is found as their longest common subsequence. */
function diffLines(left: string, right: string): readonly DiffLine[] {
  const a = left.split('\n')
  const b = right.split('\n')
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end])
    end++
  const same = (lines: readonly string[]) => lines.map(text => ({ kind: 'same', text }) as const)
  return [
    ...same(a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ]
}

function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  if (a.length * b.length > cellsMax) {
    return [
      ...a.map(text => ({ kind: 'left', text }) as const),
      ...b.map(text => ({ kind: 'right', text }) as const),
    ]
  }
  const width = b.length + 1
  /** At [i, j] the length of the longest common subsequence of what follows line i and line j. */
  const lengths = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const at = i * width + j
      const down = lengths[at + width] as number
      const along = lengths[at + 1] as number
      lengths[at] = a[i] === b[j] ? (lengths[at + width + 1] as number) + 1 : Math.max(down, along)
    }
  }
  const lines: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    const at = i * width + j
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] as string })
      i++
      j++
    } else if (
      j >= b.length ||
      (i < a.length && (lengths[at + width] as number) >= (lengths[at + 1] as number))
    ) {
      lines.push({ kind: 'left', text: a[i++] as string })
    } else lines.push({ kind: 'right', text: b[j++] as string })
  }
  return lines
}

/** Lines side by side; those only on the left stand beside those only on the right that replace them. */
interface Pair {
  readonly left: string | undefined
  readonly right: string | undefined
  readonly isSame: boolean
}

/** What is shown of a comparison. */
export interface Comparison {
  readonly isSame: boolean
  /** The pairs near a change; undefined stands for equal lines that are left out. */
  readonly pairs: readonly (Pair | undefined)[]
  /** Pairs behind those shown. */
  readonly more: number
}

/** Lines around a change that are shown with it. */
const contextLines = 3
const lineChars = 400
const pairsMax = 1000

/** Compares two texts. Long lines are cut, and so are very many differences. */
export function compare(left: string, right: string): Comparison {
  const pairs = pairsOf(diffLines(left, right))
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

function pairsOf(lines: readonly DiffLine[]): readonly Pair[] {
  const pairs: Pair[] = []
  let lefts: string[] = []
  let rights: string[] = []
  const flush = () => {
    for (let at = 0; at < Math.max(lefts.length, rights.length); at++)
      pairs.push({ left: lefts[at], right: rights[at], isSame: false })
    lefts = []
    rights = []
  }
  for (const { kind, text } of lines) {
    if (kind === 'left') lefts.push(text)
    else if (kind === 'right') rights.push(text)
    else {
      flush()
      pairs.push({ left: text, right: text, isSame: true })
    }
  }
  flush()
  return pairs
}

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
