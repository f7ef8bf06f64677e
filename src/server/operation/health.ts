// The JSON of `GET /api/v1/health`: the state of the processes, the disk, the background work, backups and checks. The
// file contains only types, because the dashboard also imports the types.

import type { BackupStatus } from '../../backup/backup-status.ts'

/** Counts since the process began, the same as in `/metrics`. */
export interface RequestCounts {
  readonly requests: number
  readonly client_errors: number
  readonly server_errors: number
  /** Requests that were rejected with 429. */
  readonly refused: number
  readonly in_flight: number
  /** Number of requests in each class of duration, see `duration_bounds`. */
  readonly durations: readonly number[]
  readonly reads: number
  readonly writes: number
  readonly retries: number
  readonly slow_queries: number
  readonly streams: number
  readonly lost_records: number
}

/** The state of a node's replica of the shared store. */
export interface ReplicaState {
  /** Number of the newest batch of commits that the replica contains. */
  readonly head: number
  readonly behind: number
  readonly lag_ms: number
  /** The reason why the replica cannot be updated; null when the replica can be updated. */
  readonly fault: string | null
}

/** Disk space of a data directory, in bytes. */
export interface DiskUse {
  readonly data_bytes: number
  /** Null until the size has been measured for the first time. */
  readonly query_log_bytes: number | null
  readonly free_bytes: number
  readonly total_bytes: number
}

/** Load of the slow lane of a process. */
export interface LaneReport {
  readonly processes: number
  readonly processes_max: number
  readonly running: number
  readonly waiting: number
}

/** Operations that workers have forwarded to the supervisor: queries that write, batches of imports, and others. */
export interface ForwardedReport {
  /** Number of operations since the supervisor began. */
  readonly operations: number
  /** Number of operations that have no result yet. */
  readonly in_flight: number
}

/** The part of the commit log that is not yet in the data file. */
export interface CommitLogReport {
  /** Bytes of the records that are not yet in the data file. These records are also in memory. */
  readonly bytes: number
  /** Milliseconds for which the data file has been behind the log; 0 when the data file contains all records. */
  readonly lag_ms: number
}

/** The parts of a report that other modules provide. */
export interface ReportParts {
  readonly counts: RequestCounts
  readonly disk: DiskUse
  readonly slow_lane: LaneReport | null
  readonly standing: ReplicaState | null
  /** Null if there is no commit log. */
  readonly commit_log: CommitLogReport | null
  /** True if this process builds indexes and removes expired versions for all processes. */
  readonly works_in_background: boolean
  /** Present only in the report of the supervisor; null in all other reports. */
  readonly forwarded: ForwardedReport | null
}

export interface ProcessReport extends ReportParts {
  /** The name of the machine, and the port of the service. The same for all workers of a node. */
  readonly node: string
  /** The number of the worker. The supervisor has the number after the last worker. */
  readonly worker: number
  readonly pid: number
  /** Resident memory, as the operating system counts it. */
  readonly memory_bytes: number
  readonly machine_free_bytes: number
  readonly machine_total_bytes: number
  /**
   * `busy_ms`: milliseconds for which the event loop has been busy. `idle_ms`: milliseconds for which the event loop
   * has been idle.
   */
  readonly busy_ms: number
  readonly idle_ms: number
}

/** Pending background work. */
export interface PendingWorkReport {
  readonly builds: readonly {
    readonly kind: 'index' | 'collection'
    readonly database: readonly string[]
    readonly name: string
    /** From 0 to 1. */
    readonly share: number
    /** The reason why the build cannot finish; null if the build can finish. */
    readonly failure: string | null
  }[]
  /** Number of all builds; `builds` contains only the first builds. */
  readonly builds_count: number
  readonly removals: number
}

/** A long task on a data directory. */
export type TaskKind = 'backup' | 'check'

/** The result of a completed task. */
export interface TaskResult {
  /** True for a written backup, and for a check without findings. */
  readonly is_good: boolean
  /** The folder of the backup, or the data directory that was checked. */
  readonly place: string
  /** Bytes of the backup. */
  readonly bytes?: number
  /** Time of the newest transaction in the backup, in microseconds. */
  readonly transaction_time?: number
  /** The first contradictions that a check found. */
  readonly findings?: readonly string[]
}

export interface TaskProgress {
  /** The current step, as a text for people. */
  readonly step: string
  /** From 0 to 1; absent when the share is unknown. */
  readonly share?: number
}

/**
 * State of a task, as stored in the task's file in the data directory. Times are milliseconds since the Unix epoch.
 */
export interface TaskNote {
  readonly kind: TaskKind
  readonly pid: number
  readonly started: number
  /** The last time at which the process of the task was known to be alive. */
  readonly seen: number
  readonly progress: TaskProgress | null
  /** Null while the task runs. */
  readonly ended: number | null
  readonly result: TaskResult | null
  /** The reason why the task failed; null if the task did not fail. */
  readonly failure: string | null
  /** The last successful task of this kind before this task; null when there is no such task. */
  readonly succeeded: TaskSuccess | null
}

/** The last successful task. A later task replaces this record only when the later task succeeds. */
export interface TaskSuccess {
  readonly ended: number
  readonly result: TaskResult
}

/** The state of the continuous backup. */
export interface ContinuousBackupReport extends BackupStatus {
  readonly pid: number
  /** Seconds since the oldest commit that is not yet in the backup; 0 when the backup contains all commits. */
  readonly lag_seconds: number
}

/** A backup in the folder for backups. */
export interface BackupEntry {
  readonly name: string
  readonly bytes: number
  /** Milliseconds since the Unix epoch. */
  readonly made: number
}

export interface BackupFolder {
  readonly folder: string
  /** Null when unknown. */
  readonly free_bytes: number | null
  /** Newest first. */
  readonly kept: readonly BackupEntry[]
}

/** The state of the service. */
export interface ServiceHealth {
  readonly version: string
  readonly node: string
  readonly workers: number
  readonly processes: readonly ProcessReport[]
  /** Upper bounds of the classes of `durations`, in seconds. The last class has no upper bound. */
  readonly duration_bounds: readonly number[]
  readonly work: PendingWorkReport
  readonly tasks: Readonly<Record<TaskKind, TaskNote | null>>
  readonly backups: BackupFolder | null
  /** Null without the setting `backupTo`, and until the backup process has written its first status. */
  readonly continuous_backup: ContinuousBackupReport | null
  /** True if backups and checks can be started over HTTP. */
  readonly starts: boolean
}
