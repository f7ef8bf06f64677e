// The metrics of the service, each with its meaning, its normal range and advice.

import type { ProcessReport, ServiceHealth } from '../../../src/server/operation/health.ts'
import { bytesText, percentText, rateText } from '../parts/quantities.ts'
import { nodesOf, type Span } from '../service/health-spans.ts'

interface Figure {
  readonly name: string
  readonly value: string
  readonly meaning: string
}

/** `span`: rates between the last two samples; undefined at the first sample. */
export function HealthFigures({ health, span }: { health: ServiceHealth; span: Span | undefined }) {
  const groups = [
    ['Requests', requestFigures(health, span)],
    ['Machine', machineFigures(health)],
    ['Slow lane and writes', laneAndWriteFigures(health, span)],
  ] as const
  return (
    <>
      {groups.map(([title, figures]) => (
        <section key={title} aria-label={title}>
          <h2>{title}</h2>
          <dl class="figures explained">
            {figures.map(({ name, value, meaning }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
                <dd class="hint">{meaning}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </>
  )
}

const unknown = '…'

function total({ processes }: ServiceHealth, of: (process: ProcessReport) => number): number {
  return processes.reduce((sum, process) => sum + of(process), 0)
}

const milliseconds = (value: number | null | undefined) =>
  value === undefined ? unknown : value === null ? '–' : `${value} ms`

function requestFigures(health: ServiceHealth, span: Span | undefined): readonly Figure[] {
  return [
    {
      name: 'Requests/s',
      value: span ? rateText(span.requests) : unknown,
      meaning: 'Responses per second since the last refresh, including the requests of this page.',
    },
    {
      name: 'In flight',
      value: String(total(health, ({ counts }) => counts.in_flight)),
      meaning:
        'Requests without a response yet. A few are normal. A growing number means that requests arrive faster than the service can handle them.',
    },
    {
      name: 'p99 latency',
      value: milliseconds(span?.p99Ms),
      meaning:
        'A few milliseconds are normal. Long queries and logins take longer. The Logs page lists slow queries.',
    },
    {
      name: 'Server errors (5xx)',
      value: String(total(health, ({ counts }) => counts.server_errors)),
      meaning: 'Since the processes started. Normally 0. Includes query timeouts, because they return 503.',
    },
    {
      name: 'Rejected (429)',
      value: String(total(health, ({ counts }) => counts.refused)),
      meaning: 'Requests over a limit on rate, memory or concurrency, since the processes started.',
    },
    {
      name: 'Open streams',
      value: String(total(health, ({ counts }) => counts.streams)),
      meaning: 'Streams over which clients follow changes. --streams-max limits their number per process.',
    },
  ]
}

function machineFigures(health: ServiceHealth): readonly Figure[] {
  // The first node is the one that has answered.
  const [own] = nodesOf(health)
  if (!own) return []
  const { disk } = own
  return [
    {
      name: 'Data file',
      value: bytesText(disk.data_bytes),
      meaning:
        'The file grows with the data and never shrinks. Freed space in it is reused. Restoring a backup creates the smallest possible file.',
    },
    {
      name: 'Commit log',
      value: logText(health),
      meaning:
        'Commits that are durable but not yet in the data file. They reach the data file within seconds. If the log grows, the disk is too slow.',
    },
    {
      name: 'Query log',
      value: disk.query_log_bytes === null ? unknown : bytesText(disk.query_log_bytes),
      meaning: 'Limited by --query-log-megabytes and --query-log-days. The oldest records are deleted first.',
    },
    {
      name: 'Free disk space',
      value: `${bytesText(disk.free_bytes)} of ${bytesText(disk.total_bytes)}`,
      meaning: 'If the disk is full, writes fail, but reads still work. Keep at least 10 % free.',
    },
    {
      name: 'Memory (RSS)',
      value: bytesText(total(health, process => process.memory_bytes)),
      meaning:
        'All processes except those of the slow lane. RSS includes mapped pages of the data file and levels off after a while.',
    },
    {
      name: 'Free memory of the machine',
      value: `${bytesText(own.machine_free_bytes)} of ${bytesText(own.machine_total_bytes)}`,
      meaning: 'Memory that is available to processes. When it runs out, the system kills processes.',
    },
  ]
}

/**
 * Returns the size of the rows that are in the commit log but not yet in the data file. All processes report the same
 * log, but at different times; the largest size is shown.
 */
function logText(health: ServiceHealth): string {
  const logs = health.processes.flatMap(({ commit_log: log }) => (log ? [log] : []))
  if (logs.length === 0) return 'none'
  return bytesText(Math.max(...logs.map(({ bytes }) => bytes)))
}

function laneAndWriteFigures(health: ServiceHealth, span: Span | undefined): readonly Figure[] {
  const lanes = health.processes.flatMap(({ slow_lane: lane }) => (lane ? [lane] : []))
  const sum = (of: (lane: (typeof lanes)[number]) => number) =>
    lanes.reduce((before, lane) => before + of(lane), 0)
  const processes = `${sum(lane => lane.processes)} of ${sum(lane => lane.processes_max)}`
  return [
    {
      name: 'Event loop utilization',
      value: span ? percentText(span.busy) : unknown,
      meaning:
        'Of the busiest process, since the last refresh. Above 80 %, requests wait. If the process is not the supervisor, raise --workers.',
    },
    {
      name: 'Slow lane processes',
      value: lanes.length === 0 ? 'none' : processes,
      meaning:
        'The slow lane runs long queries in separate processes, so that short queries do not wait. Processes start on demand.',
    },
    {
      name: 'Slow lane queue',
      value: `${sum(lane => lane.waiting)} (${sum(lane => lane.running)} running)`,
      meaning:
        'Long queries that wait for a process. Normally 0. If queries wait, find the slow queries on the Logs page, or raise --slow-lane-processes.',
    },
    {
      name: 'Writes/s',
      value: span ? rateText(span.writes) : unknown,
      meaning: 'Queries that wrote data.',
    },
    {
      name: 'Retries/s',
      value: span ? rateText(span.retries) : unknown,
      meaning:
        'Repeated evaluations of queries, after conflicting writes. Many retries mean that many queries write the same document.',
    },
  ]
}
