// What `GET /api/v1/health` says, as JSON has it: how the processes, the disk and the background work of a service stand, its
// backups and checks. Types alone, for the service and for the dashboard.

/** Counts since the process began; all are those of `/metrics`. */
export interface RequestCounts {
  readonly requests: number
  readonly client_errors: number
  readonly server_errors: number
  /** Answered 429. */
  readonly refused: number
  readonly in_flight: number
  /** By class of duration, see `duration_bounds`. */
  readonly durations: readonly number[]
  readonly reads: number
  readonly writes: number
  readonly retries: number
  readonly slow_queries: number
  readonly streams: number
  readonly lost_records: number
}

/** How the copy of a node stands to the store that several machines share. */
export interface NodeStanding {
  /** Number of the newest batch that this node has. */
  readonly head: number
  readonly behind: number
  readonly lag_ms: number
  /** What keeps it from following; null: nothing. */
  readonly fault: string | null
}

/** What lies on the disk of a data directory, in bytes. */
export interface DiskUse {
  readonly data_bytes: number
  /** Null until it has been counted. */
  readonly query_log_bytes: number | null
  readonly free_bytes: number
  readonly total_bytes: number
}

/** How busy the slow lane of a process is. */
export interface LaneReport {
  readonly processes: number
  readonly processes_max: number
  readonly running: number
  readonly waiting: number
}

/** What belongs to the rest of the service. */
export interface ReportParts {
  readonly counts: RequestCounts
  readonly disk: DiskUse
  readonly slow_lane: LaneReport | null
  readonly standing: NodeStanding | null
  /** It builds indexes and removes what is past, for all processes. */
  readonly works_in_background: boolean
}

/** One process, as JSON has it. */
export interface ProcessReport extends ReportParts {
  /** The machine, with the port it serves on; workers of one node have the same. */
  readonly node: string
  readonly worker: number
  readonly pid: number
  /** Of the operating system. */
  readonly memory_bytes: number
  readonly machine_free_bytes: number
  readonly machine_total_bytes: number
  /** Milliseconds for which its event loop has worked, and has waited. */
  readonly busy_ms: number
  readonly idle_ms: number
}

/** What the background has to do yet. */
export interface WorkLeftReport {
  readonly builds: readonly {
    readonly kind: 'index' | 'collection'
    readonly database: readonly string[]
    readonly name: string
    /** From 0 to 1. */
    readonly share: number
    /** Why it does not come to its end. */
    readonly failure: string | null
  }[]
  /** Builds there are, of which `builds` has the first. */
  readonly builds_count: number
  readonly removals: number
}

/** What can be noted. */
export type TaskKind = 'backup' | 'check'

/** What came of a task that came to its end. */
export interface TaskResult {
  /** A backup that was written, or a check that found nothing. */
  readonly is_good: boolean
  /** The backup's folder, or what was checked. */
  readonly place: string
  /** Bytes of the backup. */
  readonly bytes?: number
  /** Microseconds: the newest transaction in the backup. */
  readonly transaction_time?: number
  /** The contradictions that were found, the first of them. */
  readonly findings?: readonly string[]
}

/** How far a task has come. */
export interface TaskProgress {
  /** What it does now, in words. */
  readonly step: string
  /** From 0 to 1; absent where that cannot be known. */
  readonly share?: number
}

/** What the file holds, as JSON; times in milliseconds since the Unix epoch. */
export interface TaskNote {
  readonly kind: TaskKind
  readonly pid: number
  readonly started: number
  /** When it was last known to live. */
  readonly seen: number
  readonly progress: TaskProgress | null
  /** Null while it runs. */
  readonly ended: number | null
  readonly result: TaskResult | null
  /** Why it has no result. */
  readonly failure: string | null
  /** The last task of this kind before it that has a result; null where none is known. */
  readonly succeeded: SucceededTask | null
}

/** A task that has a result, after which others were started. */
export interface SucceededTask {
  readonly ended: number
  readonly result: TaskResult
}

/** A backup in the folder for backups. */
export interface KeptBackup {
  readonly name: string
  readonly bytes: number
  /** Milliseconds since the Unix epoch. */
  readonly made: number
}

/** The folder for backups. */
export interface BackupFolder {
  readonly folder: string
  /** Null where it is unknown. */
  readonly free_bytes: number | null
  /** The newest first. */
  readonly kept: readonly KeptBackup[]
}

/** How the service stands. */
export interface ServiceHealth {
  readonly version: string
  readonly node: string
  readonly workers: number
  readonly processes: readonly ProcessReport[]
  /** The upper bounds of the classes of `durations`, in seconds; one more class has what took longer. */
  readonly duration_bounds: readonly number[]
  readonly work: WorkLeftReport
  readonly tasks: Readonly<Record<TaskKind, TaskNote | null>>
  readonly backups: BackupFolder | null
  /** Whether backups and checks can be started. */
  readonly starts: boolean
}
