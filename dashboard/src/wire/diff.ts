// The differences between two texts, line by line.

/** A line of a comparison: in both texts, or only in the left or right one. */
export interface DiffLine {
  readonly kind: 'same' | 'left' | 'right'
  readonly text: string
}

/** Past this product of lines the middle is shown as replaced as a whole. */
const cellsMax = 4_000_000

/** The lines of both texts in order; what they share is found as their longest common subsequence. */
export function diffLines(left: string, right: string): readonly DiffLine[] {
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
