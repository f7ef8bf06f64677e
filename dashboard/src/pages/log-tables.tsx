// Errors, and changes since the previous period. A button in each row shows the requests of the row.

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { LoadedContent, useLoad } from '../parts/load.tsx'
import { buttons, numbers, Table } from '../parts/table.tsx'
import { cut } from '../parts/values.tsx'
import { address, addressWith, go } from '../router.ts'
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
import { includesDashboardRequests, showRequests } from './log-state.ts'

/** Maximum number of errors shown at first. */
const shownMax = 20
/** Maximum number of characters of an error or query shape. */
const textChars = 300

const whole = new Intl.NumberFormat('en')
const operationsEach = (sums: LogSums) => (sums.requests === 0 ? 0 : operations(sums) / sums.requests)

/** Status and code at the start of the name of an error. The code `–` stands for an error without a code. */
const errorStart = /^(\d{3})(?: ([^:]+))?/

function showError(name: string): void {
  const [, status = '', error] = errorStart.exec(name) ?? []
  showRequests(error === undefined || error === '–' ? { status } : { status, error })
  scrollToRequests()
}

export function showShape(shape: string): void {
  showRequests({ shape })
  scrollToRequests()
}

function scrollToRequests(): void {
  const heading = document.getElementById('records')
  heading?.scrollIntoView()
  heading?.focus({ preventScroll: true })
}

export function RequestsButton({ of, onClick }: { of: string; onClick: () => void }) {
  return (
    <Button class="quiet only" title={`Requests of ${cut(of, 80)}`} onClick={onClick}>
      Show<span class="unseen"> requests</span>
    </Button>
  )
}

export function LogErrors({ errors }: { errors: LogSummary['errors'] }) {
  const [showsAll, setShowsAll] = useState(false)
  if (errors.length === 0) return null
  const shown = showsAll ? errors : errors.slice(0, shownMax)
  return (
    <section aria-labelledby="errors">
      <h2 id="errors">Errors</h2>
      <Table label="Table of errors" columns={['Error', numbers('Requests'), buttons('Actions')]}>
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
        <Button onClick={() => setShowsAll(true)}>Show all {errors.length} errors</Button>
      )}
    </section>
  )
}

/** Compares the span with the previous one only on request, because the service must read the log of both. */
export function LogComparison({ span }: { span: Span }) {
  const isOpen = address.value.parameters.get('changes') === '1'
  return (
    <section aria-labelledby="changes">
      <header class="section-head">
        <h2 id="changes">Changes</h2>
        <Button
          aria-expanded={isOpen}
          onClick={() => go(addressWith({ changes: isOpen ? undefined : '1' }), 'replace')}
        >
          {isOpen ? 'Hide' : 'Compare with the previous period'}
        </Button>
      </header>
      {isOpen && <Changes span={span} />}
    </section>
  )
}

function Changes({ span }: { span: Span }) {
  const includesDashboard = includesDashboardRequests()
  const changes = useLoad(signal => changesIn(span, includesDashboard, signal), [span, includesDashboard])
  return <LoadedContent of={changes}>{found => <ChangeTable changes={found} />}</LoadedContent>
}

function ChangeTable({
  changes: { errors, queries, totals, totals_before: before },
}: {
  changes: LogChanges
}) {
  if (totals.requests === 0)
    return <p class="empty">There were no requests in this period. Choose a longer period.</p>
  if (before.requests === 0) {
    return (
      <p class="empty">
        There were no requests in the previous period of the same length, so there is no comparison. Choose
        another period.
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
        No changes: no query or error is new, much more frequent, slower or costlier than in the previous
        period.
      </p>
    )
  }
  return (
    <Table
      label="Table of changes"
      columns={[
        'Query or error',
        'Change',
        numbers('Requests'),
        numbers('Mean ms'),
        numbers('Operations/request'),
        buttons('Actions'),
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
  const beforeAndNow = (value: (sums: LogSums) => string) =>
    before === null ? value(now) : `${value(before)} → ${value(now)}`
  return (
    <tr>
      <td class={kind === 'query' ? 'wrap mono shape' : 'wrap status-bad'}>
        <bdi>{cut(name || '(no query)', textChars)}</bdi>
      </td>
      <td>{changes.join(', ')}</td>
      <td class="number">{beforeAndNow(sums => whole.format(sums.requests))}</td>
      <td class="number">{beforeAndNow(sums => meanTime(sums).toFixed(1))}</td>
      <td class="number">{beforeAndNow(sums => operationsEach(sums).toFixed(1))}</td>
      <td>
        <RequestsButton of={name} onClick={() => (kind === 'error' ? showError(name) : showShape(name))} />
      </td>
    </tr>
  )
}
