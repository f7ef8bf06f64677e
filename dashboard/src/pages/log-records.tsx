// The requests of the log, with a filter that is stored in the address. A click opens a request.

import { useEffect, useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Choice, Field } from '../parts/fields.tsx'
import { LoadedContent, useLoad } from '../parts/load.tsx'
import { percentText } from '../parts/quantities.ts'
import { Pager } from '../parts/schema-list.tsx'
import { numbers, Table } from '../parts/table.tsx'
import { localTimeMs, zoneName } from '../parts/time.tsx'
import { cut } from '../parts/values.tsx'
import { databasePath } from '../router.ts'
import {
  type LoggedRequest,
  type RecordFilter,
  type SearchProgress,
  type Span,
  searchRecords,
} from '../service/logs.ts'
import { session } from '../session.ts'
import { callerText, LogRecordDialog, timeOfRecord } from './log-record.tsx'
import { filterNow, includesDashboardRequests, showRequests } from './log-state.ts'

/** Maximum number of characters of a query shape in a row. */
const shapeChars = 200

export function LogRecords({ span }: { span: Span }) {
  const filter = filterNow()
  const key = JSON.stringify(filter)
  const includesDashboard = includesDashboardRequests()
  return (
    <section aria-labelledby="records">
      <h2 id="records" tabIndex={-1}>
        Requests
      </h2>
      <FilterForm key={key} filter={filter} />
      <Pages key={`${key} ${includesDashboard} ${span.from} ${span.to}`} span={span} filter={filter} />
    </section>
  )
}

/** Filters under More filters. */
const moreNames = ['index', 'function', 'address', 'lane', 'costlier', 'retried', 'shape'] as const

const statuses = [
  ['', 'any'],
  ['2xx', 'succeeded'],
  ['4xx', 'client error (4xx)'],
  ['5xx', 'server error (5xx)'],
] as const

function FilterForm({ filter }: { filter: RecordFilter }) {
  const [draft, setDraft] = useState<RecordFilter>(filter)
  const set = (name: keyof RecordFilter) => (value: string) => setDraft({ ...draft, [name]: value })
  const text = (name: keyof RecordFilter, label: string, type: 'text' | 'search' | 'number' = 'text') => (
    <Field label={label} type={type} value={draft[name] ?? ''} onInput={set(name)} />
  )
  const status = draft.status ?? ''
  const known = statuses.some(([value]) => value === status)
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        showRequests(draft)
      }}
    >
      <div class="inline-form toolbar">
        {text('text', 'Contains text', 'search')}
        <Choice
          label="Status"
          value={status}
          onChange={set('status')}
          options={known ? statuses : [...statuses, [status, status]]}
        />
        {text('error', 'Error')}
        {text('collection', 'Collection')}
        {text('who', 'Caller')}
        {text('tag', 'Tag')}
        {text('slower', 'Slower than (ms)', 'number')}
        <button type="submit">Search</button>
        {Object.keys(filter).length > 0 && (
          <Button class="quiet" onClick={() => showRequests({})}>
            Show all
          </Button>
        )}
      </div>
      <details class="more-filters" open={moreNames.some(name => filter[name] !== undefined)}>
        <summary>More filters</summary>
        <div class="inline-form toolbar">
          {text('index', 'Index')}
          {text('function', 'Function')}
          {text('address', 'Address')}
          <Choice
            label="Lane"
            value={draft.lane ?? ''}
            onChange={set('lane')}
            options={[
              ['', 'any'],
              ['ordinary', 'ordinary'],
              ['slow', 'slow'],
            ]}
          />
          {text('costlier', 'More operations than', 'number')}
          <Choice
            label="Retried"
            value={draft.retried ?? ''}
            onChange={set('retried')}
            options={[
              ['', 'any'],
              ['yes', 'yes'],
              ['no', 'no'],
            ]}
          />
          {text('shape', 'Exact shape')}
        </div>
        <p class="hint">
          Error: a code such as <code>invalid argument</code>. Caller: a key (its id or name), a role, a user
          (such as <code>users/5</code>), or <code>root</code>. Lane: slow for queries that moved to the slow
          lane, the background processes for long queries. Tag: <code>job</code> or <code>job=nightly</code>.
        </p>
      </details>
    </form>
  )
}

function Pages({ span, filter }: { span: Span; filter: RecordFilter }) {
  const [cursors, setCursors] = useState<readonly string[]>([])
  const [opened, setOpened] = useState<LoggedRequest | undefined>(undefined)
  const includesDashboard = includesDashboardRequests()
  const [progress, setProgress] = useState<SearchProgress | undefined>(undefined)
  const page = useLoad(
    signal => {
      setProgress(undefined)
      return searchRecords(span, filter, includesDashboard, cursors.at(-1), signal, setProgress)
    },
    // Another filter creates another instance of this component.
    [span, cursors],
  )
  useEffect(() => setOpened(undefined), [cursors])
  return (
    <>
      {page.isLoading && progress && (
        <p role="status">
          {progress.found} found so far; about {percentText(progress.share)} of the period searched…
        </p>
      )}
      <LoadedContent of={page}>
        {({ requests, next }) => (
          <>
            {requests.length === 0 ? (
              <p class="empty">
                No request in this period matches the filters. Choose a longer period or remove a filter.
              </p>
            ) : (
              <RecordTable requests={requests} onOpen={setOpened} />
            )}
            <Pager
              cursors={cursors}
              after={next ?? undefined}
              onTurn={setCursors}
              back="← Newer"
              on="Older →"
            />
          </>
        )}
      </LoadedContent>
      {opened && (
        <LogRecordDialog {...opened} database={databaseText(opened)} onClose={() => setOpened(undefined)} />
      )}
    </>
  )
}

/**
 * Returns the path of the record's database, relative to the current database. For the current database, the text is
 * `this one`.
 */
function databaseText({ record }: LoggedRequest): string {
  const own = [...(session.value?.principal.database ?? []), ...databasePath.value]
  return record.DATABASE.slice(own.length).join('/') || 'this one'
}

interface RecordTableProps {
  readonly requests: readonly LoggedRequest[]
  readonly onOpen: (request: LoggedRequest) => void
}

function RecordTable({ requests, onOpen }: RecordTableProps) {
  return (
    <Table
      label="Table of requests"
      columns={[
        `Time (${zoneName()})`,
        'Status',
        numbers('ms'),
        'Query',
        'Caller',
        'Database',
        'Tags',
        numbers('Operations'),
      ]}
    >
      {requests.map((request, at) => (
        <RecordRow key={at} request={request} onOpen={onOpen} />
      ))}
    </Table>
  )
}

function RecordRow({
  request,
  onOpen,
}: {
  request: LoggedRequest
  onOpen: (request: LoggedRequest) => void
}) {
  const { details, record } = request
  const isBad = Number(record.RESPONSE_CODE) >= 400
  const error = details?.error
  const shape = details?.shape ?? record.FQL_SHAPE
  const tags = Object.entries(record.TAGS).map(([key, value]) => `${key}=${value}`)
  return (
    <tr>
      <td>
        <Button class="quiet only" title="Open this request" onClick={() => onOpen(request)}>
          {localTimeMs(timeOfRecord(record))}
        </Button>
      </td>
      <td class={isBad ? 'status-bad' : undefined}>{record.RESPONSE_CODE}</td>
      <td class="number">{record.QUERY_TIME_MS}</td>
      <td class="wrap mono shape">
        <bdi>{cut(shape || `– ${details?.endpoint ?? ''}`, shapeChars)}</bdi>
        {error && (
          <p class="status-bad row-reason">
            <bdi>{[error.code, error.description].filter(text => text !== '').join(': ')}</bdi>
          </p>
        )}
      </td>
      <td>
        <bdi>{details ? callerText(details.caller) : ''}</bdi>
      </td>
      <td>
        <bdi>{databaseText(request)}</bdi>
      </td>
      <td>{tags.join(' ')}</td>
      <td class="number">{record.BYTE_READ_OPS + record.BYTE_WRITE_OPS + record.COMPUTE_OPS}</td>
    </tr>
  )
}
