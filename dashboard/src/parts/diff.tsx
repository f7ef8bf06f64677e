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
      <Table label={`Differences: ${leftName}, ${rightName}`} look="diff" columns={[leftName, rightName]}>
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

const toneOf: Readonly<Record<string, 'added' | 'removed' | 'changed'>> = {
  '32': 'added',
  '31': 'removed',
  '33': 'changed',
}

/** A line in a colour of terminals: its indentation, the colour and the text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequences of terminals begin with a control character.
const colouredLine = /^( *)\u001b\[([\d;]+)m(.*)\u001b\[0m$/

/** A comparison that the service has drawn for terminals, with its colours; signs tell the same without them. */
export function DrawnDiff({ text }: { readonly text: string }) {
  if (text === '') return null
  return (
    <pre class="drawn drawn-diff">
      {text
        .trimEnd()
        .split('\n')
        .map((line, at) => (
          <DrawnLine key={at} line={line} />
        ))}
    </pre>
  )
}

function DrawnLine({ line }: { line: string }) {
  const [, indentation = '', colour = '', coloured] = colouredLine.exec(line) ?? []
  const text = `${indentation}${coloured ?? line}\n`
  const tone = toneOf[colour]
  if (tone === 'added') return <ins>{text}</ins>
  if (tone === 'removed') return <del>{text}</del>
  return <span class={tone ?? (coloured === undefined ? undefined : 'title')}>{text}</span>
}

function Side({ text, kind, isGap }: { text: string | undefined; kind: string | undefined; isGap: boolean }) {
  if (isGap) return <td class="gap">⋯</td>
  if (text === undefined) return <td class="gap" />
  return <td class={kind}>{kind ? kind === 'added' ? <ins>{text}</ins> : <del>{text}</del> : text}</td>
}
