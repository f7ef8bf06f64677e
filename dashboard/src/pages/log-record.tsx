// A dialog with one request of the log: its outcome, its query, and a list of facts. A button beside a fact filters the
// log by this fact.

import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Fact } from '../parts/fact.tsx'
import { localTimeMs, zoneName } from '../parts/time.tsx'
import type { LogCaller, LogDetails, LoggedRequest, LogRecord, RecordFilter } from '../service/logs.ts'
import { showRequests } from './log-state.ts'

interface LogRecordDialogProps extends LoggedRequest {
  /** Relative to the current database. */
  readonly database: string
  readonly onClose: () => void
}

/** When the record was written, in milliseconds since the epoch. */
export function timeOfRecord({ TS }: LogRecord): number {
  return Date.parse(`${TS.slice(0, 10)}T${TS.slice(11, 23)}Z`)
}

export function LogRecordDialog({ record, details, database, onClose }: LogRecordDialogProps) {
  const show = (filter: RecordFilter) => {
    onClose()
    showRequests(filter)
  }
  const shape = details?.shape ?? record.FQL_SHAPE
  return (
    <Dialog title={`Request of ${localTimeMs(timeOfRecord(record))}`} isWide onClose={onClose}>
      <div class="dialog-body record">
        <Outcome record={record} details={details} show={show} />
        <h3>Query</h3>
        {shape === '' ? (
          <p class="hint">The request had no query, or the query could not be parsed.</p>
        ) : (
          <>
            <pre class="record-shape">
              <bdi>{shape}</bdi>
            </pre>
            <p class="hint">
              This is the shape of the query. The log stores no values: each <code>?</code> replaces a value.
            </p>
            <FilterButton of={{ shape }} what="this query" show={show} />
          </>
        )}
        <Facts record={record} details={details} database={database} show={show} />
      </div>
    </Dialog>
  )
}

type ShowRequests = (filter: RecordFilter) => void

interface PartProps extends LoggedRequest {
  readonly show: ShowRequests
}

/** Filters the log by a fact of the record. */
function FilterButton({ of, what, show }: { of: RecordFilter; what: string; show: ShowRequests }) {
  return (
    <Button class="quiet only" onClick={() => show(of)}>
      Filter by {what}
    </Button>
  )
}

/** The status, and the reason for an error. */
function Outcome({ record, details, show }: PartProps) {
  const { RESPONSE_CODE: status, RATE_LIMITS_HIT: limits } = record
  const error = details?.error
  if (Number(status) < 400) {
    return (
      <p>
        Status <b>{status}</b> after {record.QUERY_TIME_MS} ms.
      </p>
    )
  }
  return (
    <>
      <p class="status-bad">
        {Number(status) >= 500 ? 'Failed' : 'Rejected'} with status {status}
        {error?.code ? `: ${error.code}` : '.'}
      </p>
      {error && error.description !== '' && (
        <p class="record-reason">
          <bdi>{error.description}</bdi>
        </p>
      )}
      {error && error.position !== '' && (
        <p>
          Position in the query: <bdi class="mono">{positionText(error.position)}</bdi>
        </p>
      )}
      {error?.description === '' && (
        <p class="hint">The application defined the text of this error. The log does not store it.</p>
      )}
      {limits.length > 0 && <p>Rate limits hit: {limits.join(', ')}.</p>}
      {details === null && <p class="hint">The stored details of this request are damaged.</p>}
      {error?.code && <FilterButton of={{ status, error: error.code }} what="this error" show={show} />}
    </>
  )
}

/** A path into the query (version 4), or source, line and column (version 10). */
function positionText(position: string): string {
  const [, source = '', line, column] = /^(.*):(\d+):(\d+)$/.exec(position) ?? []
  if (line === undefined) return position.split('/').join(' › ')
  const [, name] = /^\*(\w+(?::[^*]*)?)\*$/.exec(source) ?? []
  return `${name === 'query' ? '' : `${name ?? source}, `}line ${line}, column ${column}`
}

const endpoints: Readonly<Record<string, string>> = {
  '/': 'a query of version 4',
  '/query/1': 'a query of version 10',
  '/stream': 'an event stream of version 4',
  '/stream/1': 'an event stream of version 10',
  '/feed/1': 'a page of an event feed',
  '/schema/1': 'schema files',
  '/schema/1/*': 'schema files',
  '/api/v1/explain': 'explain',
}

function Facts({ record, details, database, show }: PartProps & { readonly database: string }) {
  const tags = Object.entries(record.TAGS)
  const headers = Object.entries(headersOf(record))
  return (
    <dl class="record-facts">
      <Fact name={`Time (${zoneName()})`}>{localTimeMs(timeOfRecord(record))}</Fact>
      {details && <Fact name="Request">{endpoints[details.endpoint] ?? details.endpoint}</Fact>}
      <Fact name="Database">
        <bdi>{database}</bdi>
      </Fact>
      {details && <CallerFacts caller={details.caller} show={show} />}
      {details && <UsedObjects details={details} show={show} />}
      <Fact name="Tags">
        {tags.length === 0 && 'none'}
        {tags.map(([key, value]) => (
          <span key={key}>
            {key}={value} <FilterButton of={{ tag: `${key}=${value}` }} what="this tag" show={show} />
          </span>
        ))}
      </Fact>
      {details && (
        <Fact name="Address">
          {details.address} <FilterButton of={{ address: details.address }} what="this address" show={show} />
        </Fact>
      )}
      <Fact name="Query time">{record.QUERY_TIME_MS} ms</Fact>
      <Fact name="Operations">
        {record.BYTE_READ_OPS} read, {record.BYTE_WRITE_OPS} write, {record.COMPUTE_OPS} compute
      </Fact>
      <Fact name="Bytes">
        {record.BYTES_IN} received, {record.BYTES_OUT} sent
      </Fact>
      <Fact name="Attempts">{attemptsText(record.TXN_RETRIES)}</Fact>
      {details && (
        <Fact name="Lane">
          {details.lane === 'slow' ? 'slow: moved to a process for long queries' : 'ordinary'}
        </Fact>
      )}
      <Fact name="API version">{record.API_VERSION || 'not given'}</Fact>
      <Fact name="Headers">
        {headers.length === 0 && 'none'}
        {headers.map(([key, value]) => (
          <span key={key} class="record-header">
            <bdi>
              {key}: {String(value)}
            </bdi>
          </span>
        ))}
      </Fact>
      <Fact name="Trace">
        <span class="mono">{record.TRACEPARENT}</span>
      </Fact>
    </dl>
  )
}

function attemptsText(retries: number): string {
  if (retries === 0) return '1'
  return `${retries + 1} (${retries} ${retries === 1 ? 'retry' : 'retries'} after conflicting writes)`
}

function headersOf({ REQUEST_HEADERS: text }: LogRecord): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}

/** Describes the caller in a few words. */
export function callerText(caller: LogCaller | null | undefined): string {
  if (!caller) return 'not authenticated'
  const { id, identity, is_outer, kind, name, roles } = caller
  if (identity !== null) return identity
  if (kind === 'root') return 'root secret'
  if (kind === 'key')
    return is_outer ? `key of a parent database (${roles.join(', ')})` : (name ?? `key ${id}`)
  return kind === 'token' ? `token ${id}` : 'a token of an access provider'
}

const kinds = {
  root: 'the root secret',
  key: 'a key',
  token: 'a token',
  provider: 'a token of an access provider',
} as const

function CallerFacts({ caller, show }: { caller: LogCaller | null; show: ShowRequests }) {
  if (caller === null) return <Fact name="Caller">not authenticated: the secret was rejected</Fact>
  const { id, identity, is_outer, kind, name, roles } = caller
  const key = is_outer && kind === 'key' ? 'a key of a parent database' : kinds[kind]
  return (
    <>
      <Fact name="Caller">
        <bdi>{[key, name, id].filter(each => each !== null).join(', ')}</bdi>{' '}
        {id !== null && <FilterButton of={{ who: id }} what={`this ${kind}`} show={show} />}
      </Fact>
      {identity !== null && (
        <Fact name="Logged in as">
          <bdi>{identity}</bdi> <FilterButton of={{ who: identity }} what="this user" show={show} />
        </Fact>
      )}
      <Fact name="Roles">
        {roles.length === 0 && 'none'}
        {roles.map(role => (
          <span key={role}>
            <bdi>{role}</bdi> <FilterButton of={{ who: role }} what="this role" show={show} />
          </span>
        ))}
      </Fact>
    </>
  )
}

function UsedObjects({ details, show }: { details: LogDetails; show: ShowRequests }) {
  const parts = [
    ['Collections', 'collection', details.collections],
    ['Indexes', 'index', details.indexes],
    ['Functions', 'function', details.functions],
  ] as const
  return (
    <>
      {parts.map(
        ([title, kind, names]) =>
          names.length > 0 && (
            <Fact key={kind} name={title}>
              {names.map(name => (
                <span key={name}>
                  <bdi>{name}</bdi> <FilterButton of={{ [kind]: name }} what={`this ${kind}`} show={show} />
                </span>
              ))}
            </Fact>
          ),
      )}
    </>
  )
}
