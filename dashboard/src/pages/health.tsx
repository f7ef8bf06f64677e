// The health of the whole service, for users with the root secret. Shows warnings, metrics, charts since the page was
// opened, processes and nodes, backups and checks, and background work.

import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ServiceHealth } from '../../../src/server/operation/health.ts'
import { Button } from '../parts/button.tsx'
import { Chart } from '../parts/chart.tsx'
import { Heading } from '../parts/heading.tsx'
import { NameLink } from '../parts/link.tsx'
import { useEvery } from '../parts/live.ts'
import { LoadedContent, useLoad } from '../parts/load.tsx'
import { megabyte, percentText } from '../parts/quantities.ts'
import { Table } from '../parts/table.tsx'
import { addressIn } from '../router.ts'
import { readHealth } from '../service/health.ts'
import { findingsIn } from '../service/health-findings.ts'
import { type Sample, type Span, spansOf } from '../service/health-spans.ts'
import { HealthFigures } from './health-figures.tsx'
import { HealthProcesses } from './health-processes.tsx'
import { Backups, Checks } from './health-tasks.tsx'

const refreshEveryMs = 3000
/** Number of samples in one hour. */
const samplesMax = 1200

export function Health() {
  const health = useLoad(readHealth, [])
  const [samples, setSamples] = useState<readonly Sample[]>([])
  const [isPaused, setPaused] = useState(false)
  useEvery(isPaused ? undefined : refreshEveryMs, health.reload)
  const { data } = health
  useEffect(() => {
    if (data) setSamples(before => [...before, { atMs: Date.now(), health: data }].slice(-samplesMax))
  }, [data])
  const spans = useMemo(() => spansOf(samples), [samples])
  return (
    <div class="steady">
      <Heading title="Health">
        <Button onClick={() => setPaused(!isPaused)}>{isPaused ? 'Resume' : 'Pause'}</Button>
      </Heading>
      <p class="hint">
        This page is about the whole service, not only the current database. It refreshes every three seconds.
      </p>
      <LoadedContent of={health}>
        {state => (
          <>
            <Findings health={state} spans={spans} />
            <HealthFigures health={state} span={spans.at(-1)} />
            <Charts spans={spans} />
            <HealthProcesses health={state} />
            <Backups health={state} reload={health.reload} />
            <Checks health={state} reload={health.reload} />
            <HealthWork work={state.work} />
          </>
        )}
      </LoadedContent>
    </div>
  )
}

function Findings({ health, spans }: { health: ServiceHealth; spans: readonly Span[] }) {
  const findings = findingsIn(health, spans, Date.now())
  return (
    <section aria-labelledby="findings">
      <h2 id="findings">Warnings</h2>
      {findings.length === 0 ? (
        <p>No warnings: all metrics are in their normal range.</p>
      ) : (
        <ul class="findings">
          {findings.map(finding => (
            <li key={finding}>
              <bdi>{finding}</bdi>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Charts({ spans }: { spans: readonly Span[] }) {
  const times = useMemo(() => spans.map(({ atMs }) => atMs), [spans])
  const charts = useMemo(() => chartsOf(spans), [spans])
  return (
    <section aria-labelledby="charts">
      <h2 id="charts">Since this page was opened</h2>
      {spans.length < 2 ? (
        <p class="hint" role="status">
          Charts appear after a few seconds.
        </p>
      ) : (
        <div class="charts">
          {charts.map(({ label, series }) => (
            <Chart key={label} label={label} times={times} series={series} height={150} />
          ))}
        </div>
      )}
    </section>
  )
}

function chartsOf(spans: readonly Span[]) {
  const line = (name: string, colour: string, of: (span: Span) => number | null, isFilled = false) => ({
    name,
    colour,
    isFilled,
    values: spans.map(of),
  })
  return [
    {
      label: 'Requests/s',
      series: [
        line('all', '--accent', span => span.requests, true),
        line('server errors (5xx)', '--danger', span => span.serverErrors),
        line('rejected (429)', '--code-number', span => span.rejected),
      ],
    },
    {
      label: 'Latency, ms',
      series: [line('p50', '--accent', span => span.p50Ms), line('p99', '--code-number', span => span.p99Ms)],
    },
    {
      label: 'Event loop utilization of the busiest process, %',
      series: [line('utilization', '--accent', span => span.busy * 100, true)],
    },
    {
      label: 'Memory (RSS) of all processes, MB',
      series: [line('RSS', '--accent', span => span.memoryBytes / megabyte, true)],
    },
  ]
}

/** The service counts at most this number of deleted collections, indexes and databases. */
const removalsMax = 1000

/** Builds of indexes and rewrites of documents, and the number of deleted objects whose rows are not removed yet. */
function HealthWork({ work }: { work: ServiceHealth['work'] }) {
  const { builds, builds_count: count, removals } = work
  return (
    <section aria-labelledby="background">
      <h2 id="background">Background work</h2>
      <p>
        {count === 0
          ? 'No builds are running.'
          : `${count} ${count === 1 ? 'build is' : 'builds are'} running, in small steps between queries.`}{' '}
        {removals === 0
          ? 'No deleted data is waiting to be removed.'
          : `${removals < removalsMax ? removals : 'More than a thousand'} deleted collections, indexes and databases use disk space until their rows are removed.`}
      </p>
      {builds.length > 0 && (
        <Table label="Table of builds" columns={['Database', 'Build', 'Progress', 'Error']}>
          {builds.map(({ database, failure, kind, name, share }) => (
            <tr key={[...database, kind, name].join('/')}>
              <td>
                <NameLink
                  href={addressIn([], { db: database.join('/') || undefined })}
                  name={database.join('/') || 'root'}
                />
              </td>
              <td>
                {kind === 'index' ? 'index ' : 'documents of '}
                <bdi>{name}</bdi>
              </td>
              <td>{percentText(share)}</td>
              <td>
                <bdi>{failure ?? ''}</bdi>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}
