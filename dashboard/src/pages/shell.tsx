// The page of the shell: runs queries as the user or as another identity, at the present or at a past time.

import { useMemo, useRef, useState } from 'preact/hooks'
import type { Version } from '../language.ts'
import { Button } from '../parts/button.tsx'
import { useDismissal } from '../parts/dismissal.ts'
import { Editor } from '../parts/editor.tsx'
import { Heading } from '../parts/heading.tsx'
import { type Action, useAction } from '../parts/load.tsx'
import { NotationSwitch, useConversion } from '../parts/notation-switch.tsx'
import { Problem } from '../parts/problem.tsx'
import { VersionHint, VersionSwitch } from '../parts/version-switch.tsx'
import { pastTime } from '../router.ts'
import type { RequestSecret } from '../service/client.ts'
import {
  activeTab,
  changeTab,
  closeTab,
  history,
  openTab,
  rememberQuery,
  showTab,
  tabs,
} from '../service/shell-state.ts'
import { currentSecret, session } from '../session.ts'
import type { Json } from '../wire/json.ts'
import { ActAs } from './act-as.tsx'
import { Explanation } from './shell-explanation.tsx'
import { FunctionHelp, useCompletions } from './shell-help.tsx'
import {
  MarkedError,
  marksOf,
  queriesOf4,
  queryOf10,
  type ReadyQuery,
  withMarkedErrors,
} from './shell-queries.ts'
import { type ShellResponse, ShellResult } from './shell-result.tsx'
import { useTypingMarks } from './shell-typing.ts'

/** A result, or an explanation of the reads. */
type Outcome =
  | { readonly kind: 'result'; readonly response: ShellResponse }
  | { readonly kind: 'explanation'; readonly explanation: Json }

type Work = (query: ReadyQuery, as: RequestSecret, signal: AbortSignal) => Promise<Outcome>

/** Runs the queries of the active tab, one after the other. `results`: outcomes of each tab. */
function useRuns(action: Action) {
  const [results, setResults] = useState<ReadonlyMap<number, readonly Outcome[]>>(new Map())
  const start = (work: Work, as: RequestSecret) => {
    if (action.isRunning) return
    const { id, text, version, notation } = activeTab.value
    action.start(async signal => {
      const queries = version === '10' ? [queryOf10(text)] : queriesOf4(text, notation)
      const outcomes: Outcome[] = []
      setResults(before => new Map(before).set(id, []))
      try {
        for (const each of queries) {
          outcomes.push(await withMarkedErrors(each, as, query => work(query, as, signal)))
          setResults(before => new Map(before).set(id, [...outcomes]))
        }
        rememberQuery({ text, version, notation })
      } catch (cause) {
        // A query whose secret was rejected did not run, so the history does not contain it.
        if (cause instanceof MarkedError) rememberQuery({ text, version, notation })
        throw cause
      }
    })
  }
  return { results, start }
}

const run: Work = async (query, as, signal) => ({ kind: 'result', response: await query.run(as, signal) })

const explain: Work = async (query, _, signal) => ({
  kind: 'explanation',
  explanation: await query.explain(signal),
})

export function Shell() {
  const tab = activeTab.value
  const [asWhom, setAsWhom] = useState<RequestSecret | undefined>(undefined)
  const action = useAction()
  const { results, start } = useRuns(action)
  const completions = useCompletions(tab.version, results)
  const conversion = useConversion('query')
  const error = conversion.error ?? action.error
  const runMarks = useMemo(() => marksOf(error), [error])
  const typingMarks = useTypingMarks(tab)
  const chooseVersion = (version: Version) => {
    action.clear()
    changeTab({ version })
  }
  const runAll = () => start(run, asWhom ?? currentSecret.value)
  const mayExplain = session.value?.principal.role === 'admin' && asWhom === undefined
  const shownError = error instanceof MarkedError ? error.cause : error
  const outcomes = results.get(tab.id) ?? []
  const explanation = outcomes.find(each => each.kind === 'explanation')?.explanation
  return (
    <div class="shell">
      <Heading title="Shell" />
      <TabStrip />
      <div class="shell-head">
        <VersionSwitch version={tab.version} onChange={chooseVersion} />
        {tab.version === '4' && (
          <NotationSwitch
            notation={tab.notation}
            onChange={to =>
              conversion.start(tab.text, tab.notation, to, text => changeTab({ text, notation: to }, tab.id))
            }
          />
        )}
        <ActAs onChange={setAsWhom} />
        <HistoryChoice />
      </div>
      <Editor
        key={tab.id}
        label="Query"
        value={tab.text}
        notation={tab.version === '10' ? 'version 10' : tab.notation}
        marks={runMarks.length > 0 ? runMarks : typingMarks}
        {...completions}
        hasFocus
        placeholder={placeholders[tab.version]}
        onChange={text => {
          conversion.clear()
          changeTab({ text })
        }}
        onSubmit={runAll}
      />
      <div class="form-buttons">
        <Button class="primary" disabled={action.isRunning} onClick={runAll}>
          {action.isRunning ? 'Running…' : 'Run'}
        </Button>
        {mayExplain && (
          <Button disabled={action.isRunning} onClick={() => start(explain, currentSecret.value)}>
            Explain
          </Button>
        )}
        <span class="hint">
          or press Ctrl-Enter
          {pastTime.value !== undefined && '. Queries read the data as of the time chosen above'}
          {pastTime.value !== undefined && tab.version === '10' && ': they run inside at (Time("…")) { … }'}
        </span>
      </div>
      {shownError && <Problem error={shownError} showsPosition />}
      {(tab.version === '10' || tab.notation === 'text') && (
        <VersionHint
          text={tab.text}
          version={tab.version}
          error={shownError}
          explanation={explanation}
          onChange={chooseVersion}
        />
      )}
      {outcomes.map((outcome, at) =>
        outcome.kind === 'result' ? (
          <ShellResult key={`${tab.id}-${at}`} response={outcome.response} />
        ) : (
          <Explanation key={`${tab.id}-${at}`} explanation={outcome.explanation} />
        ),
      )}
      <FunctionHelp version={tab.version} />
    </div>
  )
}

const placeholders: Readonly<Record<Version, string>> = {
  '4': 'Paginate(Documents(Collection("…")))',
  '10': 'Collection.all().map(.name)',
}

function TabStrip() {
  return (
    <div class="tabs">
      <div role="tablist" aria-label="Tabs">
        {tabs.value.map(({ id, text }) => (
          <Button key={id} role="tab" aria-selected={id === activeTab.value.id} onClick={() => showTab(id)}>
            {text.trim().split('\n')[0]?.slice(0, 24) || `Tab ${id}`}
          </Button>
        ))}
      </div>
      <Button class="quiet" aria-label="Close this tab" onClick={() => closeTab(activeTab.value.id)}>
        ✕
      </Button>
      <Button class="quiet" aria-label="Open new tab" onClick={() => openTab()}>
        +
      </Button>
    </div>
  )
}

function HistoryChoice() {
  const [isOpen, setOpen] = useState(false)
  const part = useRef<HTMLDetailsElement>(null)
  useDismissal(part, isOpen, () => setOpen(false))
  if (history.value.length === 0) return null
  return (
    <details
      class="history-list"
      ref={part}
      open={isOpen}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary>History</summary>
      <ol>
        {history.value.map(({ text, version, notation }) => (
          <li key={`${version} ${notation} ${text}`}>
            <Button class="quiet mono" onClick={() => changeTab({ text, version, notation })}>
              {text.replace(/\s+/g, ' ').slice(0, 100)}
            </Button>
          </li>
        ))}
      </ol>
    </details>
  )
}
