// Two texts side by side, with what differs.

import { heavy } from '../service/heavy.ts'
import type { Comparison } from '../wire/diff.ts'
import { Loaded, useLoad } from './load.tsx'
import { Table } from './table.tsx'

interface NamesProps {
  readonly leftName: string
  readonly rightName: string
}

interface DiffProps extends NamesProps {
  readonly left: string
  readonly right: string
}

/** A comparison of two texts. */
export function Diff({ left, right, ...names }: DiffProps) {
  const comparison = useLoad(
    () => heavy({ kind: 'compare', left, right }, left.length + right.length),
    [left, right],
  )
  return <Loaded of={comparison}>{compared => <DiffTable comparison={compared} {...names} />}</Loaded>
}

/** What is shown of a comparison. */
export function DiffTable({ comparison, leftName, rightName }: NamesProps & { comparison: Comparison }) {
  const { isSame, more, pairs } = comparison
  if (isSame) return <p class="empty">There is no difference.</p>
  return (
    <>
      <Table label="Differences" look="diff" columns={[leftName, rightName]}>
        {pairs.map((pair, at) => (
          <tr key={at}>
            <Side text={pair?.left} kind={pair && !pair.isSame ? 'removed' : undefined} isGap={!pair} />
            <Side text={pair?.right} kind={pair && !pair.isSame ? 'added' : undefined} isGap={!pair} />
          </tr>
        ))}
      </Table>
      {more > 0 && <p class="hint">{more.toLocaleString('en')} more lines are not shown.</p>}
    </>
  )
}

function Side({ text, kind, isGap }: { text: string | undefined; kind: string | undefined; isGap: boolean }) {
  if (isGap) return <td class="gap">⋯</td>
  if (text === undefined) return <td class="gap" />
  return <td class={kind}>{kind ? kind === 'added' ? <ins>{text}</ins> : <del>{text}</del> : text}</td>
}
