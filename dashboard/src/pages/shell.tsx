// The shell: queries as text, run as oneself or as somebody else, now or at a past time.

import { useMemo, useState } from 'preact/hooks'
import { NotationError, parseQueries, type WrittenQuery } from '../language.ts'
import type { Mark } from '../parts/code-editor.ts'
import { NotationSwitch } from '../parts/draft-editor.tsx'
import { Editor } from '../parts/editor.tsx'
import { Heading } from '../parts/heading.tsx'
import { useAction } from '../parts/load.tsx'
import { Problem } from '../parts/problem.tsx'
import { pastTime } from '../router.ts'
import { runText, type Scope, type TextResult } from '../service/client.ts'
import { ServiceError } from '../service/faults.ts'
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
import { scope } from '../session.ts'
import { type Query, writeJson } from '../wire/json.ts'
import { ActAs } from './act-as.tsx'
import { FunctionHelp, useCompletions } from './shell-help.tsx'
import { ShellResult } from './shell-result.tsx'

/** A query that failed, and where it stands in the text. */
class QueryFailure extends Error {
  override name = 'QueryFailure'
  override readonly cause: ServiceError
  readonly marks: readonly Mark[]

  constructor(cause: ServiceError, written: WrittenQuery, isAt: boolean) {
    super(cause.message)
    this.cause = cause
    this.marks = cause.faults.map(({ code, description, position }) => ({
      ...written.locate(isAt && position[0] === 'expr' ? position.slice(1) : position),
      message: `${code}: ${description}`,
    }))
  }
}

function marksOf(error: Error | undefined): readonly Mark[] {
  if (error instanceof QueryFailure) return error.marks
  return error instanceof NotationError ? [{ from: error.from, to: error.to, message: error.message }] : []
}

/** The page of the shell. */
export function Shell() {
  const tab = activeTab.value
  const [results, setResults] = useState<ReadonlyMap<number, readonly TextResult[]>>(new Map())
  const [asWhom, setAsWhom] = useState<Scope | undefined>(undefined)
  const action = useAction()
  const completions = useCompletions()
  const marks = useMemo(() => marksOf(action.error), [action.error])
  const run = () => {
    if (action.isRunning) return
    const { id, text, notation } = activeTab.value
    action.start(async signal => {
      const written = parseQueries(text, notation)
      rememberQuery(text)
      const answers: TextResult[] = []
      setResults(before => new Map(before).set(id, []))
      for (const each of written) {
        answers.push(await runOne(each, asWhom ?? scope.value, signal))
        setResults(before => new Map(before).set(id, [...answers]))
      }
    })
  }
  const shownError = action.error instanceof QueryFailure ? action.error.cause : action.error
  return (
    <div class="shell">
      <Heading title="Shell" />
      <TabStrip />
      <div class="shell-head">
        <NotationSwitch notation={tab.notation} onChange={notation => changeTab({ notation })} />
        <ActAs onChange={setAsWhom} />
        <HistoryChoice />
      </div>
      <Editor
        key={tab.id}
        label="Query"
        value={tab.text}
        notation={tab.notation}
        marks={marks}
        completions={completions}
        hasFocus
        placeholder='Paginate(Documents(Collection("…")))'
        onChange={text => changeTab({ text })}
        onSubmit={run}
      />
      <div class="form-buttons">
        <button type="button" class="primary" disabled={action.isRunning} onClick={run}>
          {action.isRunning ? 'Running…' : 'Run'}
        </button>
        <span class="hint">
          or Ctrl-Enter{pastTime.value !== undefined && ' – reads as of the time chosen above'}
        </span>
      </div>
      {shownError && <Problem error={shownError} />}
      {(results.get(tab.id) ?? []).map((answer, at) => (
        <ShellResult key={`${tab.id}-${at}`} answer={answer} />
      ))}
      <FunctionHelp />
    </div>
  )
}

async function runOne(written: WrittenQuery, as: Scope, signal: AbortSignal): Promise<TextResult> {
  const past = pastTime.value
  const query: Query = past === undefined ? written.query : { at: { '@ts': past }, expr: written.query }
  try {
    return await runText(writeJson(query), as, signal)
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    // A refused secret of somebody else is no reason to sign out.
    if (cause.status === 401 && as !== scope.value) throw new Error('The secret to run with is not accepted.')
    if (cause.status === 401) throw cause
    throw new QueryFailure(cause, written, past !== undefined)
  }
}

function TabStrip() {
  return (
    <div class="tabs">
      <div role="tablist" aria-label="Tabs">
        {tabs.value.map(({ id, text }) => (
          <button
            key={id}
            type="button"
            role="tab"
            aria-selected={id === activeTab.value.id}
            onClick={() => showTab(id)}
          >
            {text.trim().split('\n')[0]?.slice(0, 24) || `Tab ${id}`}
          </button>
        ))}
      </div>
      <button
        type="button"
        class="quiet"
        aria-label="Close this tab"
        onClick={() => closeTab(activeTab.value.id)}
      >
        ✕
      </button>
      <button type="button" class="quiet" aria-label="New tab" onClick={() => openTab()}>
        +
      </button>
    </div>
  )
}

function HistoryChoice() {
  if (history.value.length === 0) return null
  return (
    <details class="history-list">
      <summary>History</summary>
      <ol>
        {history.value.map(text => (
          <li key={text}>
            <button type="button" class="quiet mono" onClick={() => changeTab({ text })}>
              {text.replace(/\s+/g, ' ').slice(0, 100)}
            </button>
          </li>
        ))}
      </ol>
    </details>
  )
}
