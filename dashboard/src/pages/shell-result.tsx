// The result of a query, as a tree, as text or as JSON, with its costs.

import { useMemo, useState } from 'preact/hooks'
import type { Version } from '../language.ts'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Editor } from '../parts/editor.tsx'
import { LoadedContent, useLoad } from '../parts/load.tsx'
import { Summary } from '../parts/problem.tsx'
import { Tree } from '../parts/values.tsx'
import type { TextResult } from '../service/client.ts'
import { runTextTask } from '../service/text-task-runner.ts'
import { at, parseJson } from '../wire/json.ts'
import { shownValue } from '../wire/tagged.ts'

type View = 'tree' | 'text' | 'json'

/** Longer results have no tree, because drawing it would block the page. */
const treeCharsMax = 1_000_000

export interface ShellAnswer extends TextResult {
  readonly version: Version
  /** Hints and log lines of version 10. */
  readonly summary: string
}

export function ShellResult({ answer }: { answer: ShellAnswer }) {
  const hasTree = answer.text.length <= treeCharsMax
  const [chosen, setView] = useState<View>('tree')
  const view = chosen === 'tree' && !hasTree ? 'text' : chosen
  return (
    <section aria-label="Result">
      <div class="section-head">
        <fieldset class="switch" aria-label="Show as">
          {(['tree', 'text', 'json'] as const).map(each => (
            <Button
              key={each}
              aria-pressed={view === each}
              disabled={each === 'tree' && !hasTree}
              onClick={() => setView(each)}
            >
              {{ tree: 'Tree', text: 'As text', json: 'As JSON' }[each]}
            </Button>
          ))}
        </fieldset>
        <p class="facts">{Math.round(answer.elapsedMs)} ms</p>
      </div>
      <Summary summary={answer.summary} />
      {view === 'tree' ? <TreeView answer={answer} /> : <TextView key={view} answer={answer} view={view} />}
      <CostTable answer={answer} />
    </section>
  )
}

function TreeView({ answer: { text, version } }: { answer: ShellAnswer }) {
  const value = useMemo(() => {
    const body = parseJson(text)
    return version === '4' ? (at(body, 'resource') ?? null) : shownValue(at(body, 'data') ?? null)
  }, [text, version])
  return (
    <div class="result">
      <Tree value={value} />
    </div>
  )
}

function TextView({ answer: { text, version }, view }: { answer: ShellAnswer; view: 'text' | 'json' }) {
  const printed = useLoad(
    () => runTextTask({ kind: 'answer', text, version, notation: view }, text.length),
    [text, version, view],
  )
  const notation = version === '10' && view === 'text' ? 'version 10' : view
  return (
    <LoadedContent of={printed}>
      {shown => (
        <>
          <Editor label="Result" value={shown} notation={notation} isReadOnly />
          <p>
            <CopyButton text={shown} />
          </p>
        </>
      )}
    </LoadedContent>
  )
}

const costNames: readonly (readonly [header: string, name: string])[] = [
  ['query-time', 'ms query time'],
  ['compute-ops', 'compute operations'],
  ['byte-read-ops', 'read operations'],
  ['byte-write-ops', 'write operations'],
  ['storage-bytes-read', 'bytes read'],
  ['storage-bytes-write', 'bytes written'],
  ['query-bytes-in', 'bytes sent'],
  ['query-bytes-out', 'bytes received'],
  ['txn-retries', 'retries'],
]

function CostTable({ answer: { costs } }: { answer: TextResult }) {
  return (
    <dl class="costs" aria-label="Costs">
      {costNames.map(([header, name]) =>
        costs[header] === undefined ? null : (
          <div key={header}>
            <dt>{name}</dt>
            <dd title={`x-${header}`}>{costs[header].toLocaleString('en')}</dd>
          </div>
        ),
      )}
    </dl>
  )
}
