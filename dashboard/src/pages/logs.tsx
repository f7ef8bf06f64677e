// The page of the query log of a database: totals, charts, errors, query shapes, changes, single requests and exports.

import { useMemo, useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Chart } from '../parts/chart.tsx'
import { Heading } from '../parts/heading.tsx'
import { LoadedContent, useLoad } from '../parts/load.tsx'
import { bytesText } from '../parts/quantities.ts'
import { type LogSummary, summarize } from '../service/logs.ts'
import { LogExports } from './log-exports.tsx'
import { LogRecords } from './log-records.tsx'
import { LogShapes } from './log-shapes.tsx'
import { LogSpan } from './log-span.tsx'
import { includesDashboardRequests, spanKey, spanNow, zoomTo } from './log-state.ts'
import { LogComparison, LogErrors } from './log-tables.tsx'

export function Logs() {
  const [reloads, setReloads] = useState(0)
  const key = spanKey()
  // Refresh increases `reloads`, which creates a new span object, so that all parts load again. A span such as
  // *last hour* then ends now.
  const span = useMemo(() => ({ ...spanNow(), reloads }), [key, reloads])
  const includesDashboard = includesDashboardRequests()
  const summary = useLoad(signal => summarize(span, includesDashboard, signal), [span, includesDashboard])
  return (
    <>
      <Heading title="Logs">
        <Button onClick={() => setReloads(reloads + 1)}>Refresh</Button>
      </Heading>
      <LogSpan span={span} />
      <LoadedContent of={summary}>
        {found => (
          <>
            <Totals summary={found} />
            <Charts summary={found} />
            <LogErrors errors={found.errors} />
            <LogShapes shapes={found.shapes} />
          </>
        )}
      </LoadedContent>
      <LogComparison span={span} />
      <LogRecords span={span} />
      <LogExports span={span} />
    </>
  )
}

const whole = new Intl.NumberFormat('en')

function Totals({ summary: { totals } }: { summary: LogSummary }) {
  const errors = totals.client_errors + totals.server_errors
  const share = totals.requests === 0 ? 0 : (errors / totals.requests) * 100
  const figures = [
    ['requests', whole.format(totals.requests)],
    ['errors', `${whole.format(errors)} (${share.toFixed(1)} %)`],
    ['p50', totals.p50_ms === null ? '–' : `${totals.p50_ms} ms`],
    ['p99', totals.p99_ms === null ? '–' : `${totals.p99_ms} ms`],
    ['read operations', whole.format(totals.byte_read_ops)],
    ['write operations', whole.format(totals.byte_write_ops)],
    ['compute operations', whole.format(totals.compute_ops)],
    ['bytes sent', bytesText(totals.bytes_out)],
  ] as const
  return (
    <dl class="figures" aria-label="Totals">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Charts({ summary }: { summary: LogSummary }) {
  const { points, totals } = summary
  const data = useMemo(
    () => ({
      times: points.map(({ time }) => Date.parse(time)),
      requests: [
        {
          name: 'requests',
          colour: '--accent',
          values: points.map(({ requests }) => requests),
          isFilled: true,
        },
        {
          name: 'errors',
          colour: '--danger',
          values: points.map(({ client_errors, server_errors }) => client_errors + server_errors),
        },
      ],
      latency: [
        { name: 'p50', colour: '--accent', values: points.map(({ p50_ms }) => p50_ms) },
        { name: 'p99', colour: '--code-number', values: points.map(({ p99_ms }) => p99_ms) },
      ],
      operations: [
        { name: 'read', colour: '--accent', values: points.map(each => each.byte_read_ops) },
        { name: 'write', colour: '--code-number', values: points.map(each => each.byte_write_ops) },
        { name: 'compute', colour: '--code-call', values: points.map(each => each.compute_ops) },
      ],
      bytes: [
        { name: 'received', colour: '--code-number', values: points.map(each => each.bytes_in) },
        { name: 'sent', colour: '--accent', values: points.map(each => each.bytes_out), isFilled: true },
      ],
    }),
    [summary],
  )
  if (totals.requests === 0) {
    return <p class="empty">This database had no requests in this period. Choose a longer period.</p>
  }
  return (
    <div class="charts">
      <Chart label="Requests and errors" times={data.times} series={data.requests} onZoom={zoomTo} />
      <Chart label="Query time, ms" times={data.times} series={data.latency} onZoom={zoomTo} />
      <Chart label="Operations" times={data.times} series={data.operations} onZoom={zoomTo} />
      <Chart label="Bytes" times={data.times} series={data.bytes} onZoom={zoomTo} />
    </div>
  )
}
