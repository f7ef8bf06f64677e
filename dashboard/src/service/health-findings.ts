// Derives the warnings of the Health page from the health report. Most warnings give advice.

import type { ProcessReport, ServiceHealth, TaskNote } from '../../../src/server/operation/health.ts'
import { bytesText } from '../parts/quantities.ts'
import { nodesOf, type Span } from './health-spans.ts'

const dayMs = 86_400_000
/** A newest backup above this age causes a warning. */
const backupDays = 7
/** A smaller free share of the disk or of the memory causes a warning. */
const freeDiskShareMin = 0.1
const freeMemoryShareMin = 0.05
/** A greater mean event loop utilization of the busiest process causes a warning. */
const busyShareMax = 0.8
/** Number of spans from which warnings about requests are derived: the last 30 seconds. */
const recentSpans = 10

/** Returns the findings, the most urgent first. */
export function findingsIn(health: ServiceHealth, spans: readonly Span[], nowMs: number): readonly string[] {
  return [
    ...health.processes.flatMap(replicationFindings),
    ...nodesOf(health).flatMap(machineFindings),
    ...requestFindings(health, spans),
    ...workFindings(health),
    ...taskFindings(health, nowMs),
  ]
}

function replicationFindings({ node, standing: replica, worker }: ProcessReport): readonly string[] {
  if (!replica || replica.fault === null) return []
  return [`${node}, process ${worker}, does not follow the shared store: ${replica.fault}`]
}

function machineFindings(process: ProcessReport): readonly string[] {
  const { disk, machine_free_bytes: free, machine_total_bytes: total, node } = process
  const found: string[] = []
  if (disk.free_bytes < disk.total_bytes * freeDiskShareMin) {
    found.push(
      `The disk of ${node} has ${bytesText(disk.free_bytes)} left. If the disk is full, writes fail. Free some space, or move the data to a larger disk.`,
    )
  }
  if (free < total * freeMemoryShareMin) {
    found.push(
      `The machine of ${node} has ${bytesText(free)} of memory left. Add memory, or lower --query-memory-mb and --slow-lane-memory-mb.`,
    )
  }
  return found
}

function requestFindings({ processes }: ServiceHealth, spans: readonly Span[]): readonly string[] {
  const recent = spans.slice(-recentSpans)
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
  if (busy > busyShareMax) {
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

function workFindings({ work }: ServiceHealth): readonly string[] {
  return work.builds
    .filter(({ failure }) => failure !== null)
    .map(({ database, kind, name }) => {
      const path = [...database, name].join('/')
      const problem =
        kind === 'index'
          ? `The index ${path} cannot be built.`
          : `The documents of the collection ${path} cannot be rewritten.`
      return `${problem} See Background work below.`
    })
}

function taskFindings(health: ServiceHealth, nowMs: number): readonly string[] {
  const { backup, check } = health.tasks
  const found: string[] = []
  if (check !== null && check.failure !== null)
    found.push(`The last integrity check failed: ${check.failure}`)
  if (check?.result?.is_good === false)
    found.push('The last integrity check found errors. See Integrity check below.')
  const continuous = health.continuous_backup
  if (continuous?.state === 'failing') found.push(`The continuous backup fails: ${continuous.reason}`)
  if (backup !== null && backup.failure !== null) found.push(`The last backup failed: ${backup.failure}`)
  // A continuous backup replaces regular backups.
  else if (continuous === null) found.push(...ageFindings(backup, nowMs))
  return found
}

/** Uses only recorded backups, because other files in the backup folder may come from another service. */
function ageFindings(backup: TaskNote | null, nowMs: number): readonly string[] {
  if (backup === null)
    return [
      'No backup of this data directory is known. See Backups below. Ignore this warning if you use another backup method.',
    ]
  if (backup.ended === null || nowMs - backup.ended <= backupDays * dayMs) return []
  return [`The last known backup is ${Math.floor((nowMs - backup.ended) / dayMs)} days old.`]
}
