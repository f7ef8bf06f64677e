// The query log of a database: how much was asked, how fast it was answered, and by which queries.

import { useMemo, useState } from 'preact/hooks'
import { Chart } from '../parts/chart.tsx'
import { Choice, Field } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { Loaded, useLoad } from '../parts/load.tsx'
import { addressWith, databasePath, go, place } from '../router.ts'
import { type LogSummary, type Span, summarize } from '../service/logs.ts'
import { LogExports } from './log-exports.tsx'
import { LogRecords } from './log-records.tsx'
import { LogShapes } from './log-shapes.tsx'

const hour = 3_600_000
const spans = [
  ['15m', 'last 15 minutes', hour / 4],
  ['1h', 'last hour', hour],
  ['6h', 'last 6 hours', 6 * hour],
  ['1d', 'last day', 24 * hour],
  ['7d', 'last 7 days', 7 * 24 * hour],
  ['30d', 'last 30 days', 30 * 24 * hour],
  ['90d', 'last 90 days', 90 * 24 * hour],
] as const

const minute = 60_000

/** The span that the address names; without one the last hour. */
function spanOf(): Span {
  const { parameters } = place.value
  const from = parameters.get('from')
  const to = parameters.get('to')
  if (from !== null && to !== null) return { from, to }
  const length = spans.find(([name]) => name === parameters.get('last'))?.[2] ?? hour
  const now = Math.ceil(Date.now() / minute) * minute
  return { from: new Date(now - length).toISOString(), to: new Date(now).toISOString() }
}

/** The page of the log. */
export function Logs() {
  const [turn, setTurn] = useState(0)
  const { parameters } = place.value
  const key = ['from', 'to', 'last'].map(name => parameters.get(name)).join()
  // Each turn is a new span: what has come in since is asked for.
  const span = useMemo(() => ({ ...spanOf(), turn }), [key, turn])
  const summary = useLoad(signal => summarize(span, signal), [span, databasePath.value.join('/')])
  return (
    <>
      <Heading title="Logs">
        <button type="button" onClick={() => setTurn(turn + 1)}>
          Refresh
        </button>
      </Heading>
      <SpanForm span={span} />
      <Loaded of={summary}>
        {found => (
          <>
            <Totals summary={found} />
            <Charts summary={found} />
            <LogShapes shapes={found.shapes} />
          </>
        )}
      </Loaded>
      <LogRecords span={span} />
      <LogExports span={span} />
    </>
  )
}

const localInput = (iso: string) => {
  const date = new Date(iso)
  return new Date(date.getTime() - date.getTimezoneOffset() * minute).toISOString().slice(0, 16)
}

function SpanForm({ span }: { span: Span }) {
  const isCustom = place.value.parameters.has('from')
  const [from, setFrom] = useState(localInput(span.from))
  const [to, setTo] = useState(localInput(span.to))
  const none = { from: undefined, to: undefined, last: undefined }
  const choose = (name: string) => {
    if (name === 'custom') go(addressWith({ ...none, from: span.from, to: span.to }))
    else go(addressWith({ ...none, last: name }))
  }
  const apply = (event: Event) => {
    event.preventDefault()
    if (from === '' || to === '') return
    go(addressWith({ ...none, from: new Date(from).toISOString(), to: new Date(to).toISOString() }))
  }
  return (
    <div class="toolbar">
      <Choice
        label="Time"
        value={isCustom ? 'custom' : (place.value.parameters.get('last') ?? '1h')}
        onChange={choose}
        options={[...spans.map(([name, text]) => [name, text] as const), ['custom', 'from … to …'] as const]}
      />
      {isCustom && (
        <form class="inline-form" onSubmit={apply}>
          <Field label="From" type="datetime-local" value={from} onInput={setFrom} />
          <Field label="To" type="datetime-local" value={to} onInput={setTo} />
          <button type="submit">Show</button>
        </form>
      )}
    </div>
  )
}

const whole = new Intl.NumberFormat('en')

function Totals({ summary: { totals } }: { summary: LogSummary }) {
  const errors = totals.client_errors + totals.server_errors
  const share = totals.requests === 0 ? 0 : (errors / totals.requests) * 100
  const facts = [
    ['requests', whole.format(totals.requests)],
    ['errors', `${whole.format(errors)} (${share.toFixed(1)} %)`],
    ['half within', totals.p50_ms === null ? '–' : `${totals.p50_ms} ms`],
    ['99 of 100 within', totals.p99_ms === null ? '–' : `${totals.p99_ms} ms`],
    ['read operations', whole.format(totals.byte_read_ops)],
    ['write operations', whole.format(totals.byte_write_ops)],
    ['compute operations', whole.format(totals.compute_ops)],
    ['sent out', bytesText(totals.bytes_out)],
  ] as const
  return (
    <dl class="figures" aria-label="Totals">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
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
        { name: 'p50 ms', colour: '--accent', values: points.map(({ p50_ms }) => p50_ms) },
        { name: 'p99 ms', colour: '--code-number', values: points.map(({ p99_ms }) => p99_ms) },
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
    return <p class="empty">Nothing was asked of this database in that time. Choose a longer one.</p>
  }
  const zoom = (from: number, to: number) =>
    go(
      addressWith({
        last: undefined,
        from: new Date(Math.floor(from / minute) * minute).toISOString(),
        to: new Date(Math.ceil(to / minute) * minute).toISOString(),
      }),
    )
  return (
    <div class="charts">
      <Chart label="Requests and errors" times={data.times} series={data.requests} onZoom={zoom} />
      <Chart label="Time in the service" times={data.times} series={data.latency} onZoom={zoom} />
      <Chart label="Operations" times={data.times} series={data.operations} onZoom={zoom} />
      <Chart label="Bytes" times={data.times} series={data.bytes} onZoom={zoom} />
    </div>
  )
}
