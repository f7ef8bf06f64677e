// How the service stands, for who has the root secret: what to look at, the numbers with what they mean, charts since the
// page was opened, processes and nodes, work in the background, backups and checks.

import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ServiceHealth } from '../../../src/server/operation/health.ts'
import { Chart } from '../parts/chart.tsx'
import { Heading } from '../parts/heading.tsx'
import { useEvery } from '../parts/live.ts'
import { Loaded, useLoad } from '../parts/load.tsx'
import { megabyte } from '../parts/quantities.ts'
import { readHealth, type Sample, type Span, spansOf } from '../service/health.ts'
import { findingsIn } from '../service/health-findings.ts'
import { HealthFigures } from './health-figures.tsx'
import { HealthProcesses } from './health-processes.tsx'
import { HealthTasks } from './health-tasks.tsx'
import { HealthWork } from './health-work.tsx'

const lookEveryMs = 3000
/** An hour of looks. */
const samplesMax = 1200

/** The page. */
export function Health() {
  const health = useLoad(readHealth, [])
  const [samples, setSamples] = useState<readonly Sample[]>([])
  const [isPaused, setPaused] = useState(false)
  useEvery(isPaused ? undefined : lookEveryMs, health.reload)
  const { data } = health
  useEffect(() => {
    if (data) setSamples(before => [...before, { atMs: Date.now(), health: data }].slice(-samplesMax))
  }, [data])
  const spans = useMemo(() => spansOf(samples), [samples])
  return (
    <div class="steady">
      <Heading title="Health">
        <button type="button" onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Go on' : 'Pause'}
        </button>
      </Heading>
      <p class="hint">
        The whole service, not only the database looked at. The page looks every three seconds while it is
        open; Pause stops that.
      </p>
      <Loaded of={health}>
        {state => (
          <>
            <Findings health={state} spans={spans} />
            <HealthFigures health={state} span={spans.at(-1)} />
            <Charts spans={spans} />
            <HealthProcesses health={state} />
            <HealthTasks health={state} reload={health.reload} />
            <HealthWork work={state.work} />
          </>
        )}
      </Loaded>
    </div>
  )
}

function Findings({ health, spans }: { health: ServiceHealth; spans: readonly Span[] }) {
  const findings = findingsIn(health, spans, Date.now())
  return (
    <section aria-labelledby="findings">
      <h2 id="findings">What to look at</h2>
      {findings.length === 0 ? (
        <p>Nothing: all numbers are as they should be.</p>
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
          Charts begin after some seconds.
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
    ...{ name, colour, isFilled },
    values: spans.map(of),
  })
  return [
    {
      label: 'Requests per second',
      series: [
        line('all', '--accent', span => span.requests, true),
        line('failed (500 and more)', '--danger', span => span.serverErrors),
        line('refused (429)', '--code-number', span => span.refused),
      ],
    },
    {
      label: 'Milliseconds until the response',
      series: [
        line('half within', '--accent', span => span.halfMs),
        line('99 of 100 within', '--code-number', span => span.mostMs),
      ],
    },
    {
      label: 'Busiest process, in percent of its time',
      series: [line('busy', '--accent', span => span.busy * 100, true)],
    },
    {
      label: 'Memory of all processes, in megabytes',
      series: [line('memory', '--accent', span => span.memoryBytes / megabyte, true)],
    },
  ]
}
