// The numbers of the service, each with what it means, what is normal and what to do.

import type { ProcessReport, ServiceHealth } from '../../../src/server/operation/health.ts'
import { bytesText, percentText, rateText } from '../parts/quantities.ts'
import { nodesOf, type Span } from '../service/health.ts'

interface Figure {
  readonly name: string
  readonly value: string
  readonly meaning: string
}

/** The numbers. `span`: what happened between the last two looks; undefined at the first. */
export function HealthFigures({ health, span }: { health: ServiceHealth; span: Span | undefined }) {
  const groups = [
    ['Requests', requestFigures(health, span)],
    ['Machine', machineFigures(health)],
    ['Slow lane and writes', laneFigures(health, span)],
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
      name: 'Requests per second',
      value: span ? rateText(span.requests) : unknown,
      meaning: 'All that was answered in the last seconds, this page’s own look included.',
    },
    {
      name: 'Under way now',
      value: String(total(health, ({ counts }) => counts.in_flight)),
      meaning: 'A few are normal. If it keeps growing, requests come faster than they can be answered.',
    },
    {
      name: '99 of 100 answered within',
      value: milliseconds(span?.mostMs),
      meaning:
        'Some milliseconds are normal; long queries and logins take longer. The Logs page shows which are slow.',
    },
    {
      name: 'Failed (500 and more)',
      value: String(total(health, ({ counts }) => counts.server_errors)),
      meaning: 'Since the processes began. Normally none; 503 comes from queries that ran out of time, too.',
    },
    {
      name: 'Refused (429)',
      value: String(total(health, ({ counts }) => counts.refused)),
      meaning: 'Since the processes began: somebody has met a limit of rate, memory or number.',
    },
    {
      name: 'Open streams',
      value: String(total(health, ({ counts }) => counts.streams)),
      meaning: 'Clients that follow changes. --streams-max bounds them for each process.',
    },
  ]
}

function machineFigures(health: ServiceHealth): readonly Figure[] {
  const [own] = nodesOf(health)
  if (!own) return []
  const { disk } = own
  return [
    {
      name: 'Data file',
      value: bytesText(disk.data_bytes),
      meaning:
        'It grows with what is stored and never shrinks: room that becomes free in it is used again. A restored backup is as small as it can be.',
    },
    {
      name: 'Query log',
      value: disk.query_log_bytes === null ? unknown : bytesText(disk.query_log_bytes),
      meaning: 'Bounded by --query-log-megabytes and --query-log-days; the oldest records go first.',
    },
    {
      name: 'Free on that disk',
      value: `${bytesText(disk.free_bytes)} of ${bytesText(disk.total_bytes)}`,
      meaning: 'Without room writes fail and reads go on. A tenth should stay free.',
    },
    {
      name: 'Memory of the processes',
      value: bytesText(total(health, process => process.memory_bytes)),
      meaning:
        'Without those of the slow lane. It holds still after a while; what is used of the file cache counts, too.',
    },
    {
      name: 'Free on the machine',
      value: `${bytesText(own.machine_free_bytes)} of ${bytesText(own.machine_total_bytes)}`,
      meaning: 'Memory that is free or can be given back at once. With none left the system ends processes.',
    },
  ]
}

function laneFigures(health: ServiceHealth, span: Span | undefined): readonly Figure[] {
  const lanes = health.processes.flatMap(({ slow_lane: lane }) => (lane ? [lane] : []))
  const sum = (of: (lane: (typeof lanes)[number]) => number) =>
    lanes.reduce((before, lane) => before + of(lane), 0)
  const processes = `${sum(lane => lane.processes)} of ${sum(lane => lane.processes_max)}`
  return [
    {
      name: 'Busiest process',
      value: span ? percentText(span.busy) : unknown,
      meaning:
        'How much of the last seconds it has worked. Above 80 % requests wait; then use more --workers.',
    },
    {
      name: 'Processes of the slow lane',
      value: lanes.length === 0 ? 'none' : processes,
      meaning:
        'Queries that take long run there, so that others need not wait. More are started when needed.',
    },
    {
      name: 'Long queries waiting',
      value: `${sum(lane => lane.waiting)} (${sum(lane => lane.running)} running)`,
      meaning:
        'Normally none waits. Otherwise find the slow queries in the Logs, or raise --slow-lane-processes.',
    },
    {
      name: 'Writes per second',
      value: span ? rateText(span.writes) : unknown,
      meaning: 'Queries that wrote something.',
    },
    {
      name: 'Evaluated again, per second',
      value: span ? rateText(span.retries) : unknown,
      meaning:
        'Queries that began again because others had written what they read. Many mean that all write one document.',
    },
  ]
}
