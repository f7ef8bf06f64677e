// Two texts side by side, with what differs.

import { useMemo } from 'preact/hooks'
import { type DiffLine, diffLines } from '../wire/diff.ts'

interface DiffProps {
  readonly left: string
  readonly right: string
  readonly leftName: string
  readonly rightName: string
}

/** Lines around a change that are shown with it. */
const contextLines = 3
const lineChars = 400

interface Pair {
  readonly left: string | undefined
  readonly right: string | undefined
}

/** Pairs lines: those only on the left stand beside those only on the right that replace them. */
function pairsOf(lines: readonly DiffLine[]): readonly Pair[] {
  const pairs: Pair[] = []
  let lefts: string[] = []
  let rights: string[] = []
  const flush = () => {
    for (let at = 0; at < Math.max(lefts.length, rights.length); at++)
      pairs.push({ left: lefts[at], right: rights[at] })
    lefts = []
    rights = []
  }
  for (const { kind, text } of lines) {
    if (kind === 'left') lefts.push(text)
    else if (kind === 'right') rights.push(text)
    else {
      flush()
      pairs.push({ left: text, right: text })
    }
  }
  flush()
  return pairs
}

const isSame = ({ left, right }: Pair) => left === right

/** The pairs near a change; undefined stands for what is left out. */
function nearChanges(pairs: readonly Pair[]): readonly (Pair | undefined)[] {
  const shown = new Set<number>()
  for (const [at, pair] of pairs.entries()) {
    if (isSame(pair)) continue
    for (let near = at - contextLines; near <= at + contextLines; near++) shown.add(near)
  }
  const result: (Pair | undefined)[] = []
  for (const [at, pair] of pairs.entries()) {
    if (shown.has(at)) result.push(pair)
    else if (result.at(-1) !== undefined || at === 0) result.push(undefined)
  }
  return result
}

/** A comparison of two texts. */
export function Diff({ left, right, leftName, rightName }: DiffProps) {
  const pairs = useMemo(() => pairsOf(diffLines(left, right)), [left, right])
  if (pairs.every(isSame)) return <p class="empty">There is no difference.</p>
  return (
    <section class="table-scroll" tabIndex={0} aria-label="Differences">
      <table class="diff">
        <thead>
          <tr>
            <th scope="col">{leftName}</th>
            <th scope="col">{rightName}</th>
          </tr>
        </thead>
        <tbody>
          {nearChanges(pairs).map((pair, at) => (
            <tr key={at}>
              <Side text={pair?.left} kind={pair && !isSame(pair) ? 'removed' : undefined} isGap={!pair} />
              <Side text={pair?.right} kind={pair && !isSame(pair) ? 'added' : undefined} isGap={!pair} />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Side({ text, kind, isGap }: { text: string | undefined; kind: string | undefined; isGap: boolean }) {
  if (isGap) return <td class="gap">⋯</td>
  if (text === undefined) return <td class="gap" />
  const shown = text.length > lineChars ? `${text.slice(0, lineChars)}…` : text
  return <td class={kind}>{kind ? kind === 'added' ? <ins>{shown}</ins> : <del>{shown}</del> : shown}</td>
}
