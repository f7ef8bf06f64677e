// Tables of what came often in the log: errors, and what changed against the span before. Each row leads to its requests.

import { useState } from 'preact/hooks'
import { Loaded, useLoad } from '../parts/load.tsx'
import { buttons, numbers, Table } from '../parts/table.tsx'
import { cut } from '../parts/values.tsx'
import { addressWith, databasePath, go, place } from '../router.ts'
import {
  changesIn,
  type LogChange,
  type LogChanges,
  type LogSummary,
  type LogSums,
  meanTime,
  operations,
  type Span,
} from '../service/logs.ts'
import { isWithDashboard, showRequests } from './log-state.ts'

const shownMax = 20
const textChars = 300

const whole = new Intl.NumberFormat('en')
const operationsEach = (sums: LogSums) => (sums.requests === 0 ? 0 : operations(sums) / sums.requests)

/** Status and code at the beginning of what an error is called. */
const errorStart = /^(\d{3})(?: ([^:]+))?/

/** Leads to the requests that ended with an error. */
function showError(name: string): void {
  const [, status = '', error] = errorStart.exec(name) ?? []
  showRequests(error === undefined || error === '–' ? { status } : { status, error })
  toRequests()
}

/** Leads to the requests of a query. */
export function showShape(shape: string): void {
  showRequests({ shape })
  toRequests()
}

function toRequests(): void {
  const heading = document.getElementById('records')
  heading?.scrollIntoView()
  heading?.focus({ preventScroll: true })
}

/** The button that leads from a row to its requests. */
export function RequestsButton({ of, onClick }: { of: string; onClick: () => void }) {
  return (
    <button type="button" class="quiet only" title={`Requests of ${cut(of, 80)}`} onClick={onClick}>
      Requests
    </button>
  )
}

/** The table of errors. */
export function LogErrors({ errors }: { errors: LogSummary['errors'] }) {
  const [isWhole, setWhole] = useState(false)
  if (errors.length === 0) return null
  const shown = isWhole ? errors : errors.slice(0, shownMax)
  return (
    <section aria-labelledby="errors">
      <h2 id="errors">Errors</h2>
      <Table label="Table of errors" columns={['Error', numbers('Requests'), buttons('Look')]}>
        {shown.map(({ error, requests }) => (
          <tr key={error}>
            <td class="wrap">
              <bdi>{cut(error, textChars)}</bdi>
            </td>
            <td class="number">{whole.format(requests)}</td>
            <td>
              <RequestsButton of={error} onClick={() => showError(error)} />
            </td>
          </tr>
        ))}
      </Table>
      {errors.length > shown.length && (
        <button type="button" onClick={() => setWhole(true)}>
          All {errors.length} errors
        </button>
      )}
    </section>
  )
}

/** What changed, once it is asked for: two spans are read for it. */
export function LogChangesPart({ span }: { span: Span }) {
  const isOpen = place.value.parameters.get('changes') === '1'
  return (
    <section aria-labelledby="changes">
      <header class="section-head">
        <h2 id="changes">What changed</h2>
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => go(addressWith({ changes: isOpen ? undefined : '1' }), 'replace')}
        >
          {isOpen ? 'Hide' : 'Compare with the time before'}
        </button>
      </header>
      {isOpen && <Changes span={span} />}
    </section>
  )
}

function Changes({ span }: { span: Span }) {
  const withDashboard = isWithDashboard()
  const changes = useLoad(
    signal => changesIn(span, withDashboard, signal),
    [span, withDashboard, databasePath.value.join('/')],
  )
  return <Loaded of={changes}>{found => <ChangeTable changes={found} />}</Loaded>
}

function ChangeTable({
  changes: { errors, queries, totals, totals_before: before },
}: {
  changes: LogChanges
}) {
  if (totals.requests === 0) return <p class="empty">Nothing was asked in this time.</p>
  if (before.requests === 0) {
    return (
      <p class="empty">
        Nothing was asked in the time of the same length before: there is nothing to compare with.
      </p>
    )
  }
  const rows = [
    ...errors.map(change => ({ kind: 'error', change }) as const),
    ...queries.map(change => ({ kind: 'query', change }) as const),
  ]
  if (rows.length === 0) {
    return (
      <p class="empty">
        No query and no error is new, much more frequent, slower or costlier than in the time before.
      </p>
    )
  }
  return (
    <Table
      label="Table of changes"
      columns={[
        'What',
        'Change',
        numbers('Requests'),
        numbers('Mean ms'),
        numbers('Operations each'),
        buttons('Look'),
      ]}
    >
      {rows.map(({ change, kind }) => (
        <ChangeRow key={`${kind} ${change.name}`} change={change} kind={kind} />
      ))}
    </Table>
  )
}

function ChangeRow({
  change: { before, changes, name, now },
  kind,
}: {
  change: LogChange
  kind: 'error' | 'query'
}) {
  const beside = (value: (sums: LogSums) => string) =>
    before === null ? value(now) : `${value(before)} → ${value(now)}`
  return (
    <tr>
      <td class={kind === 'query' ? 'wrap mono shape' : 'wrap status-bad'}>
        <bdi>{cut(name || '(no query)', textChars)}</bdi>
      </td>
      <td>{changes.join(', ')}</td>
      <td class="number">{beside(sums => whole.format(sums.requests))}</td>
      <td class="number">{beside(sums => meanTime(sums).toFixed(1))}</td>
      <td class="number">{beside(sums => operationsEach(sums).toFixed(1))}</td>
      <td>
        <RequestsButton of={name} onClick={() => (kind === 'error' ? showError(name) : showShape(name))} />
      </td>
    </tr>
  )
}
