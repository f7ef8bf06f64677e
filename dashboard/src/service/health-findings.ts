// The warnings of the Health page: rules over the metrics, each with advice.

import type { ProcessReport, ServiceHealth } from '../../../src/server/operation/health.ts'
import { bytesText } from '../parts/quantities.ts'
import { nodesOf, type Span } from './health.ts'

const dayMs = 86_400_000
/** A newest backup above this age causes a warning. */
const backupDays = 7
/** Fractions of the disk, of the memory and of time. */
const diskShareMin = 0.1
const memoryShareMin = 0.05
const busyMax = 0.8

/** Returns the findings, the most urgent first. */
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
      `The disk of ${node} has ${bytesText(disk.free_bytes)} left. If the disk is full, writes fail. Free some space, or move the data to a larger disk.`,
    )
  }
  if (free < total * memoryShareMin) {
    found.push(
      `The machine of ${node} has ${bytesText(free)} of memory left. Add memory, or lower --query-memory-mb and --slow-lane-memory-mb.`,
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
      'Requests failed with a status of 500 or more. The Logs page and the service’s own log show the reasons.',
    )
  }
  if (any(span => span.rejected)) {
    found.push('Requests were rejected with 429 because of a limit. The Logs page shows the callers.')
  }
  const busy = recent.length === 0 ? 0 : recent.reduce((sum, span) => sum + span.busy, 0) / recent.length
  if (busy > busyMax) {
    found.push(
      'A process is busy more than 80 % of the time, so requests wait. If the process is not the supervisor, raise --workers to run more processes. The supervisor evaluates all writes.',
    )
  }
  if (processes.some(({ slow_lane: lane }) => (lane?.waiting ?? 0) > 0)) {
    found.push(
      'Long queries wait for a free process of the slow lane. Raise --slow-lane-processes, or find the slow queries on the Logs page.',
    )
  }
  if (processes.some(({ counts }) => counts.lost_records > 0)) {
    found.push('Records of the query log could not be written. The service’s own log shows the reason.')
  }
  return found
}

function workFaults({ work }: ServiceHealth): readonly string[] {
  return work.builds
    .filter(({ failure }) => failure !== null)
    .map(
      ({ database, kind, name }) =>
        `The ${kind} ${[...database, name].join('/')} cannot be built. See Background work below.`,
    )
}

function careFaults(health: ServiceHealth, nowMs: number): readonly string[] {
  const { backup, check } = health.tasks
  const found: string[] = []
  if (check?.result?.is_good === false)
    found.push('The last integrity check found errors. See Integrity check below.')
  const continuous = health.continuous_backup
  if (continuous?.state === 'failing') found.push(`The continuous backup fails: ${continuous.reason}`)
  if (backup === null && continuous !== null) return found
  // Uses only recorded backups: other files in the backup folder may come from another service.
  if (backup === null) {
    found.push(
      'No backup of this data directory is known. See Backups below. Ignore this warning if you use another backup method.',
    )
  } else if (backup.failure !== null) found.push(`The last backup failed: ${backup.failure}`)
  else if (backup.ended !== null && nowMs - backup.ended > backupDays * dayMs) {
    const days = Math.floor((nowMs - backup.ended) / dayMs)
    found.push(`The last known backup is ${days} days old.`)
  }
  return found
}
