// One request of the log, with everything that is known of it: in words first, then as facts. What others have the same is
// one click away.

import { Dialog } from '../parts/dialog.tsx'
import { Fact } from '../parts/fact.tsx'
import { localTimeMs, zoneName } from '../parts/time.tsx'
import type { LogCaller, LogDetails, LogEntry, LogRecord, RecordFilter } from '../service/logs.ts'
import { showRequests } from './log-state.ts'

interface LogRecordDialogProps extends LogEntry {
  /** The database that it was asked of, from the one looked at down. */
  readonly database: string
  readonly onClose: () => void
}

/** When a record was written, in milliseconds since the epoch. */
export function timeOfRecord({ TS }: LogRecord): number {
  return Date.parse(`${TS.slice(0, 10)}T${TS.slice(11, 23)}Z`)
}

/** A record, opened. */
export function LogRecordDialog({ record, details, database, onClose }: LogRecordDialogProps) {
  const only = (filter: RecordFilter) => {
    onClose()
    showRequests(filter)
  }
  const shape = details?.shape ?? record.FQL_SHAPE
  return (
    <Dialog title={`Request of ${localTimeMs(timeOfRecord(record))}`} isWide onClose={onClose}>
      <div class="dialog-body record">
        <Outcome record={record} details={details} only={only} />
        <h3>Query</h3>
        {shape === '' ? (
          <p class="hint">There was no query, or it could not be read.</p>
        ) : (
          <>
            <pre class="record-shape">
              <bdi>{shape}</bdi>
            </pre>
            <p class="hint">
              Its shape: <code>?</code> stands for what the log does not keep, which is every value.
            </p>
            <Only of={{ shape }} what="this query" only={only} />
          </>
        )}
        <Facts record={record} details={details} database={database} only={only} />
      </div>
    </Dialog>
  )
}

type OnOnly = (filter: RecordFilter) => void

interface PartProps extends LogEntry {
  readonly only: OnOnly
}

/** The button that shows only what has the same. */
function Only({ of, what, only }: { of: RecordFilter; what: string; only: OnOnly }) {
  return (
    <button type="button" class="quiet only" onClick={() => only(of)}>
      Only {what}
    </button>
  )
}

/** How it ended, and why. */
function Outcome({ record, details, only }: PartProps) {
  const { RESPONSE_CODE: status, RATE_LIMITS_HIT: limits } = record
  const error = details?.error
  if (Number(status) < 400) {
    return (
      <p>
        Answered with <b>{status}</b> after {record.QUERY_TIME_MS} ms.
      </p>
    )
  }
  return (
    <>
      <p class="status-bad">
        {Number(status) >= 500 ? 'Failed' : 'Refused'} with {status}
        {error?.code ? `: ${error.code}` : '.'}
      </p>
      {error && error.description !== '' && (
        <p class="record-reason">
          <bdi>{error.description}</bdi>
        </p>
      )}
      {error && error.position !== '' && (
        <p>
          Where in the query: <bdi class="mono">{positionText(error.position)}</bdi>
        </p>
      )}
      {error?.description === '' && (
        <p class="hint">The text of the error is the application’s own, and not kept.</p>
      )}
      {limits.length > 0 && <p>Rate limits hit: {limits.join(', ')}.</p>}
      {details === null && <p class="hint">Why is known of requests since version 0.2 only.</p>}
      {error?.code && <Only of={{ status, error: error.code }} what="this error" only={only} />}
    </>
  )
}

/** Steps of version 4, or the source, line and column of version 10. */
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
  '/feed/1': 'a page of a feed',
  '/schema/1': 'schema files',
  '/schema/1/*': 'schema files',
  '/api/v1/explain': 'why something is denied',
}

function Facts({ record, details, database, only }: PartProps & { readonly database: string }) {
  const tags = Object.entries(record.TAGS)
  const headers = Object.entries(headersOf(record))
  return (
    <dl class="record-facts">
      <Fact name={`Time (${zoneName()})`}>{localTimeMs(timeOfRecord(record))}</Fact>
      {details && <Fact name="What">{endpoints[details.endpoint] ?? details.endpoint}</Fact>}
      <Fact name="Database">
        <bdi>{database}</bdi>
      </Fact>
      {details && <Who caller={details.caller} only={only} />}
      {details && <Used details={details} only={only} />}
      <Fact name="Tags">
        {tags.length === 0 && 'none'}
        {tags.map(([key, value]) => (
          <span key={key}>
            {key}={value} <Only of={{ tag: `${key}=${value}` }} what="this tag" only={only} />
          </span>
        ))}
      </Fact>
      {details && (
        <Fact name="Address">
          {details.address} <Only of={{ address: details.address }} what="this address" only={only} />
        </Fact>
      )}
      <Fact name="Time in the service">{record.QUERY_TIME_MS} ms</Fact>
      <Fact name="Operations">
        {record.BYTE_READ_OPS} read, {record.BYTE_WRITE_OPS} write, {record.COMPUTE_OPS} compute
      </Fact>
      <Fact name="Bytes">
        {record.BYTES_IN} received, {record.BYTES_OUT} sent
      </Fact>
      <Fact name="Attempts">{attemptsText(record.TXN_RETRIES)}</Fact>
      {details && (
        <Fact name="Lane">
          {details.lane === 'slow' ? 'slow: it was moved to a process for long queries' : 'ordinary'}
        </Fact>
      )}
      <Fact name="Version of the language">{record.API_VERSION || 'not said'}</Fact>
      <Fact name="Headers">
        {headers.length === 0 && 'none that are kept'}
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
  return `${retries + 1}: others had written what it had read`
}

function headersOf({ REQUEST_HEADERS: text }: LogRecord): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}

/** Who asked, in a few words. */
export function callerText(caller: LogCaller | null | undefined): string {
  if (!caller) return 'nobody that was let in'
  const { id, identity, is_outer, kind, name, roles } = caller
  if (identity !== null) return identity
  if (kind === 'root') return 'root secret'
  if (kind === 'key') return is_outer ? `outer key (${roles.join(', ')})` : (name ?? `key ${id}`)
  return kind === 'token' ? `token ${id}` : 'a login from elsewhere'
}

const kinds = {
  root: 'the root secret',
  key: 'a key',
  token: 'a token',
  provider: 'a login from elsewhere',
} as const

function Who({ caller, only }: { caller: LogCaller | null; only: OnOnly }) {
  if (caller === null) return <Fact name="Who">nobody: the credential was refused</Fact>
  const { id, identity, is_outer, kind, name, roles } = caller
  const key = is_outer && kind === 'key' ? 'a key of a database around your secret’s' : kinds[kind]
  return (
    <>
      <Fact name="Who">
        <bdi>{[key, name, id].filter(each => each !== null).join(', ')}</bdi>{' '}
        {id !== null && <Only of={{ who: id }} what={`this ${kind}`} only={only} />}
      </Fact>
      {identity !== null && (
        <Fact name="Logged in as">
          <bdi>{identity}</bdi> <Only of={{ who: identity }} what="this user" only={only} />
        </Fact>
      )}
      <Fact name="Roles">
        {roles.length === 0 && 'none'}
        {roles.map(role => (
          <span key={role}>
            <bdi>{role}</bdi> <Only of={{ who: role }} what="this role" only={only} />
          </span>
        ))}
      </Fact>
    </>
  )
}

function Used({ details, only }: { details: LogDetails; only: OnOnly }) {
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
                  <bdi>{name}</bdi> <Only of={{ [kind]: name }} what={`this ${kind}`} only={only} />
                </span>
              ))}
            </Fact>
          ),
      )}
    </>
  )
}
