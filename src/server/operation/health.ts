// The JSON of `GET /api/v1/health`: the state of the processes, the disk, the background work, backups and checks. This
// file contains only types, because the dashboard also imports it.

import type { BackupStatus } from '../../backup/backup-status.ts'

/** Counts since the process started, as in `/metrics`. `in_flight` and `streams` are the current numbers. */
export interface RequestCounts {
  readonly requests: number
  readonly client_errors: number
  readonly server_errors: number
  /** Number of requests that were rejected with 429. */
  readonly refused: number
  readonly in_flight: number
  /** Requests in each class of duration, see `duration_bounds`. */
  readonly durations: readonly number[]
  /** Number of responses with metrics that count no write operation, also to failed and rejected requests. */
  readonly reads: number
  /** Number of responses with metrics that count write operations. */
  readonly writes: number
  /** Evaluations that were repeated because of a conflict with another transaction. */
  readonly retries: number
  /** Queries that the slow lane has evaluated. */
  readonly slow_queries: number
  readonly streams: number
  /** Requests that the query log does not contain, because it could not be written. */
  readonly lost_records: number
}

/** State of a node's replica of the store in PostgreSQL, as the process sees it. */
export interface ReplicaState {
  /** Number of the newest batch of commits that the replica contains. */
  readonly head: number
  /** Number of newer batches up to the newest batch that the process has read or written. */
  readonly behind: number
  /** Maximum age of the data that queries read. */
  readonly lag_ms: number
  /** Why the replica cannot be updated; null when it can. */
  readonly fault: string | null
}

/** Use of a data directory and its disk, in bytes. */
export interface DiskUse {
  readonly data_bytes: number
  /** Null until the size has been measured for the first time. */
  readonly query_log_bytes: number | null
  /** `free_bytes` and `total_bytes` are 0 if the file system does not report them. */
  readonly free_bytes: number
  readonly total_bytes: number
}

export interface LaneReport {
  readonly processes: number
  readonly processes_max: number
  readonly running: number
  readonly waiting: number
}

/** Operations that workers have forwarded to the supervisor: queries that write, batches of imports, and others. */
export interface ForwardedReport {
  /** Number of operations since the start of the supervisor. */
  readonly operations: number
  /** Number of operations without a result yet. */
  readonly in_flight: number
}

/** The part of the commit log that has not been applied to the data file, as the process sees it. */
export interface CommitLogReport {
  /** Size of this part, in whole segments. The process also has these records in memory. */
  readonly bytes: number
  /** Milliseconds for which the data file has been behind the log; 0 when it contains all records. */
  readonly lag_ms: number
}

/** The report without the fields that `process-reports.ts` adds. */
export interface ReportParts {
  readonly counts: RequestCounts
  readonly disk: DiskUse
  readonly slow_lane: LaneReport | null
  /** Null without PostgreSQL. */
  readonly standing: ReplicaState | null
  /** Null if there is no commit log. */
  readonly commit_log: CommitLogReport | null
  /** This process does the background work of the store: it builds indexes and removes expired and deleted data. */
  readonly works_in_background: boolean
  /** Null in all reports but the supervisor's. */
  readonly forwarded: ForwardedReport | null
}

export interface ProcessReport extends ReportParts {
  /** Label of the service, also without PostgreSQL: the name of the machine and the configured port. */
  readonly node: string
  /** Number of the worker. The supervisor has the number after the last worker. */
  readonly worker: number
  readonly pid: number
  /** Resident memory as the operating system counts it. */
  readonly memory_bytes: number
  readonly machine_free_bytes: number
  readonly machine_total_bytes: number
  /** `busy_ms` and `idle_ms`: time since the process started in which the event loop was busy or idle. */
  readonly busy_ms: number
  readonly idle_ms: number
}

export interface PendingWorkReport {
  readonly builds: readonly {
    /** `collection`: the documents of a collection are rewritten after a migration. */
    readonly kind: 'index' | 'collection'
    readonly database: readonly string[]
    readonly name: string
    /** Completed share, from 0 to 1. */
    readonly share: number
    /** Why the last attempt failed; null if it did not fail. */
    readonly failure: string | null
  }[]
  /** Number of all builds; `builds` contains only the first ones. */
  readonly builds_count: number
  /** Number of unfinished removals of deleted data; at most 1000. */
  readonly removals: number
}

/** Long tasks on a data directory. */
export type TaskKind = 'backup' | 'check'

/** The result of a backup or a check that has ended without an error. */
export interface TaskResult {
  /** True for a written backup, and for a check without findings. */
  readonly is_good: boolean
  /** Folder of the backup; or the data directory that was checked, or the address of the PostgreSQL database. */
  readonly place: string
  /** Size of the backup. */
  readonly bytes?: number
  /** Newest transaction in the backup, in microseconds. */
  readonly transaction_time?: number
  /** The first contradictions that a check found. */
  readonly findings?: readonly string[]
}

export interface TaskProgress {
  /** Description of the step for people. */
  readonly step: string
  /** Completed share, from 0 to 1; absent when unknown. */
  readonly share?: number
}

/** The content of the task's file in the data directory. Times are milliseconds since the Unix epoch. */
export interface TaskNote {
  readonly kind: TaskKind
  readonly pid: number
  readonly started: number
  /** Last time at which the process of the task was known to be alive. */
  readonly seen: number
  readonly progress: TaskProgress | null
  /** Null while the task runs. */
  readonly ended: number | null
  readonly result: TaskResult | null
  /** Why the task failed; null if it did not fail. */
  readonly failure: string | null
  /** The last earlier task of this kind that ended without an error; null if none is known. */
  readonly succeeded: CompletedTask | null
}

/** A backup, or a check with or without findings, that ended without an error. */
export interface CompletedTask {
  readonly ended: number
  readonly result: TaskResult
}

export interface ContinuousBackupReport extends BackupStatus {
  readonly pid: number
  /** Seconds since the oldest commit that is not yet in the backup; 0 when the backup contains all commits. */
  readonly lag_seconds: number
}

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

/** The body of the response. */
export interface ServiceHealth {
  readonly version: string
  /** Label of the service that responds; see {@link ProcessReport.node}. */
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
