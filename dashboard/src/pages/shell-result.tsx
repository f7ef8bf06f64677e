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

export interface ShellResponse extends TextResult {
  readonly version: Version
  /** Hints and log lines of version 10. */
  readonly summary: string
}

export function ShellResult({ response }: { response: ShellResponse }) {
  const hasTree = response.text.length <= treeCharsMax
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
        <p class="facts">{Math.round(response.elapsedMs)} ms</p>
      </div>
      <Summary summary={response.summary} />
      {view === 'tree' ? (
        <TreeView response={response} />
      ) : (
        <TextView key={view} response={response} view={view} />
      )}
      <CostTable response={response} />
    </section>
  )
}

function TreeView({ response: { text, version } }: { response: ShellResponse }) {
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

function TextView({ response: { text, version }, view }: { response: ShellResponse; view: 'text' | 'json' }) {
  const printed = useLoad(
    () => runTextTask({ kind: 'response', text, version, notation: view }, text.length),
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

function CostTable({ response: { costs } }: { response: TextResult }) {
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
