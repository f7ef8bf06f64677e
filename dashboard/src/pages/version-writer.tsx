// The writer of a version of a document: the request of the query log whose transaction has the time of the version.

import { Fact } from '../parts/fact.tsx'
import { Loaded, type Loading, useLoad } from '../parts/load.tsx'
import { localTimeMs, zoneName } from '../parts/time.tsx'
import { pastTime } from '../router.ts'
import { type LogEntry, readWriters, type Writers } from '../service/logs.ts'
import { session } from '../session.ts'
import { callerText, timeOfRecord } from './log-record.tsx'

/** The requests that wrote versions of these times; undefined for callers who may not read the query log. */
export function useWriters(times: readonly bigint[]): Loading<Writers | undefined> {
  const mayRead = session.value?.principal.role === 'admin'
  return useLoad(
    async signal => (mayRead && times.length > 0 ? readWriters(times, signal) : undefined),
    [times.join(' '), pastTime.value],
  )
}

interface VersionWriterProps {
  readonly ts: bigint
  readonly writers: Loading<Writers | undefined>
}

/** The writer of the version of a time, or the reason why it is unknown. */
export function VersionWriter({ ts, writers }: VersionWriterProps) {
  if (writers.data === undefined && writers.error === undefined) return null
  return (
    <section aria-label="Who wrote this version">
      <h3>Who wrote this version</h3>
      <Loaded of={writers}>
        {found => {
          const entry = found?.byTime.get(ts)
          if (entry) return <WriterFacts entry={entry} />
          return <p class="empty">{absenceText(ts, found?.keptSince)}</p>
        }}
      </Loaded>
    </section>
  )
}

function absenceText(ts: bigint, keptSince: number | undefined): string {
  if (keptSince === undefined || Number(ts / 1000n) < keptSince)
    return 'The log of that time is no longer kept. --query-log-days and --query-log-megabytes set how long it is.'
  return 'No request in the query log wrote it: an import did, a write into the history, or the document expired.'
}

function WriterFacts({ entry: { details, record } }: { readonly entry: LogEntry }) {
  const tags = Object.entries(record.TAGS).map(([key, value]) => `${key}=${value}`)
  const shape = details?.shape ?? record.FQL_SHAPE
  return (
    <dl class="record-facts">
      <Fact name="Who">
        <bdi>{callerText(details?.caller)}</bdi>
      </Fact>
      {details?.caller && (
        <Fact name="Roles">
          <bdi>{details.caller.roles.join(', ') || 'none'}</bdi>
        </Fact>
      )}
      <Fact name={`Answered (${zoneName()})`}>{localTimeMs(timeOfRecord(record))}</Fact>
      <Fact name="Query shape">
        <bdi class="mono">{shape === '' ? 'none' : shape}</bdi>
      </Fact>
      {tags.length > 0 && (
        <Fact name="Tags">
          <bdi>{tags.join(', ')}</bdi>
        </Fact>
      )}
      {details && <Fact name="Address">{details.address}</Fact>}
    </dl>
  )
}
