// The writer of a version of a document: the request in the query log whose transaction has the time of the version.

import { Fact } from '../parts/fact.tsx'
import { LoadedContent, type LoadState, useLoad } from '../parts/load.tsx'
import { localTimeMs, zoneName } from '../parts/time.tsx'
import { pastTime } from '../router.ts'
import { type LoggedRequest, readWriters, type Writers } from '../service/logs.ts'
import { session } from '../session.ts'
import { callerText, timeOfRecord } from './log-record.tsx'

/** Returns undefined for callers who may not read the query log. */
export function useWriters(times: readonly bigint[]): LoadState<Writers | undefined> {
  const mayRead = session.value?.principal.role === 'admin'
  return useLoad(
    async signal => (mayRead && times.length > 0 ? readWriters(times, signal) : undefined),
    [times.join(' '), pastTime.value],
  )
}

interface VersionWriterProps {
  readonly ts: bigint
  readonly writers: LoadState<Writers | undefined>
}

/** Shows the request that wrote the version at time `ts`, or the reason why it is unknown. */
export function VersionWriter({ ts, writers }: VersionWriterProps) {
  if (writers.data === undefined && writers.error === undefined) return null
  return (
    <section aria-label="Written by">
      <h3>Written by</h3>
      <LoadedContent of={writers}>
        {found => {
          const request = found?.byTime.get(ts)
          if (request) return <WriterFacts request={request} />
          return <p class="empty">{absenceText(ts, found?.keptSince)}</p>
        }}
      </LoadedContent>
    </section>
  )
}

function absenceText(ts: bigint, keptSince: number | undefined): string {
  if (keptSince === undefined || Number(ts / 1000n) < keptSince)
    return 'The query log of that time was deleted. To keep the log for longer, raise --query-log-days and --query-log-megabytes.'
  return 'No request in the query log wrote this version. The version comes from an import, a rewind, a write into the history, or the expiry of the document.'
}

function WriterFacts({ request: { details, record } }: { readonly request: LoggedRequest }) {
  const tags = Object.entries(record.TAGS).map(([key, value]) => `${key}=${value}`)
  const shape = details?.shape ?? record.FQL_SHAPE
  return (
    <dl class="record-facts">
      <Fact name="Caller">
        <bdi>{callerText(details?.caller)}</bdi>
      </Fact>
      {details?.caller && (
        <Fact name="Roles">
          <bdi>{details.caller.roles.join(', ') || 'none'}</bdi>
        </Fact>
      )}
      <Fact name={`Time (${zoneName()})`}>{localTimeMs(timeOfRecord(record))}</Fact>
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
