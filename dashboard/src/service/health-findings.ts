// What an operator should look at, found in the numbers by rules that stand here once, with what can be done about it.

import type { ProcessReport, ServiceHealth } from '../../../src/server/operation/health.ts'
import { bytesText } from '../parts/quantities.ts'
import { nodesOf, type Span } from './health.ts'

const dayMs = 86_400_000
/** A backup older than this is worth a word. */
const backupDays = 7
/** Shares of a disk, of memory and of time from which on there is little left. */
const diskShareMin = 0.1
const memoryShareMin = 0.05
const busyMax = 0.8

/** Sentences, the most urgent first; none when all is well. */
export function findingsIn(health: ServiceHealth, spans: readonly Span[], nowMs: number): readonly string[] {
  return [
    ...health.processes.flatMap(faultsOf),
    ...nodesOf(health).flatMap(machineFaults),
    ...requestFaults(health, spans),
    ...workFaults(health),
    ...careFaults(health, nowMs),
  ]
}

function faultsOf({ node, standing, worker }: ProcessReport): readonly string[] {
  if (!standing || standing.fault === null) return []
  return [`${node}, process ${worker}, does not follow the shared store: ${standing.fault}`]
}

function machineFaults(process: ProcessReport): readonly string[] {
  const { disk, machine_free_bytes: free, machine_total_bytes: total, node } = process
  const found: string[] = []
  if (disk.free_bytes < disk.total_bytes * diskShareMin) {
    found.push(
      `The disk of ${node} has ${bytesText(disk.free_bytes)} left. Without room writes fail: free some, or move the data to a larger disk.`,
    )
  }
  if (free < total * memoryShareMin) {
    found.push(
      `The machine of ${node} has ${bytesText(free)} of memory left. Give it more, or lower --query-memory-mb and --slow-lane-memory-mb.`,
    )
  }
  return found
}

function requestFaults({ processes }: ServiceHealth, spans: readonly Span[]): readonly string[] {
  const recent = spans.slice(-10)
  const any = (of: (span: Span) => number) => recent.some(span => of(span) > 0)
  const found: string[] = []
  if (any(span => span.serverErrors)) {
    found.push(
      'Requests were answered with a status of 500 or more: the Logs page, and the service’s own log, say why.',
    )
  }
  if (any(span => span.refused)) {
    found.push('Requests were refused with 429: a limit was reached. The Logs page shows whose.')
  }
  const busy = recent.length === 0 ? 0 : recent.reduce((sum, span) => sum + span.busy, 0) / recent.length
  if (busy > busyMax) {
    found.push(
      'A process works all the time, so requests wait for each other. More processes (--workers) serve more at once.',
    )
  }
  if (processes.some(({ slow_lane: lane }) => (lane?.waiting ?? 0) > 0)) {
    found.push(
      'Long queries wait for a free process. --slow-lane-processes gives them more; the Logs page shows which queries are slow.',
    )
  }
  if (processes.some(({ counts }) => counts.lost_records > 0)) {
    found.push('Records of the query log could not be written: the service’s own log says why.')
  }
  return found
}

function workFaults({ work }: ServiceHealth): readonly string[] {
  return work.builds
    .filter(({ failure }) => failure !== null)
    .map(
      ({ database, kind, name }) =>
        `The ${kind} ${[...database, name].join('/')} cannot be built: see below.`,
    )
}

function careFaults(health: ServiceHealth, nowMs: number): readonly string[] {
  const { backup, check } = health.tasks
  const found: string[] = []
  if (check?.result?.is_good === false)
    found.push('The last check found contradictions in what is stored: see below.')
  // What else lies in the folder for backups may be of another service.
  if (backup === null) {
    found.push(
      'The service knows of no backup of this data directory. If you make them by other means, such as copies of the disk, that is fine.',
    )
  } else if (backup.failure !== null) found.push(`The last backup has failed: ${backup.failure}`)
  else if (backup.ended !== null && nowMs - backup.ended > backupDays * dayMs) {
    const days = Math.floor((nowMs - backup.ended) / dayMs)
    found.push(`The last backup that the service knows of is ${days} days old.`)
  }
  return found
}
