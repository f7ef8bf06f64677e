// Comparisons: two texts side by side, and diffs that the service has drawn with ANSI colours.

import { runTextTask } from '../service/text-task-runner.ts'
import type { Comparison } from '../wire/diff.ts'
import { LoadedContent, useLoad } from './load.tsx'
import { Table } from './table.tsx'

interface NamesProps {
  readonly leftName: string
  readonly rightName: string
}

interface DiffProps extends NamesProps {
  readonly left: string
  readonly right: string
}

export function Diff({ left, right, ...names }: DiffProps) {
  const comparison = useLoad(
    () => runTextTask({ kind: 'compare', left, right }, left.length + right.length),
    [left, right],
  )
  return (
    <LoadedContent of={comparison}>
      {compared => <DiffTable comparison={compared} {...names} />}
    </LoadedContent>
  )
}

export function DiffTable({ comparison, leftName, rightName }: NamesProps & { comparison: Comparison }) {
  const { isSame, more, pairs } = comparison
  if (isSame) return <p class="empty">There are no differences.</p>
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

/** A line with an ANSI colour: its indentation, the colour and the text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: ANSI escape sequences begin with a control character.
const ansiLine = /^( *)\u001b\[([\d;]+)m(.*)\u001b\[0m$/

/** Shows a difference that the service has drawn. The text also contains signs with the same meaning as the colours. */
export function AnsiDiff({ text }: { readonly text: string }) {
  if (text === '') return null
  return (
    <pre class="drawn drawn-diff">
      {text
        .trimEnd()
        .split('\n')
        .map((line, at) => (
          <AnsiDiffLine key={at} line={line} />
        ))}
    </pre>
  )
}

function AnsiDiffLine({ line }: { line: string }) {
  const [, indentation = '', colour = '', coloured] = ansiLine.exec(line) ?? []
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
