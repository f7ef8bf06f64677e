// Names the operation at which a process is killed. A test passes the plan to the processes that it starts in an
// environment variable, so workers, slow-lane processes and threads receive it, too.

import { fileURLToPath } from 'node:url'

/** `committer`: a service without workers, the supervisor of workers, or a test's own program. */
export type Victim = 'committer' | 'worker' | 'slow lane'

/** The work during which a process is killed. */
export type Phase =
  /** Writing a record. */
  | 'append'
  /** Waiting for the disk, or handling its response. */
  | 'flush'
  /** Making a durable record visible to other processes, or responding. */
  | 'acknowledge'
  /** Creating the file of a new segment. */
  | 'rotate'
  /** Renaming or removing the file of a segment after its rows have been applied to LMDB. */
  | 'recycle'
  /** Writing to LMDB in a transaction. */
  | 'apply'
  /** Opening a directory, and reading its log. */
  | 'replay'
  /** Reading the log of another process. */
  | 'read'

export interface KillPlan {
  readonly victim: Victim
  readonly phase: Phase
  /** Number of the operation in its phase, from 0. */
  readonly operation: number
  /**
   * 0 before the operation, 1 after it. A value in between is a share of the bytes to write, or of the longest delay in
   * a transaction of LMDB.
   */
  readonly share: number
  /**
   * A file that the killed process creates. If the file exists, no process is killed, so a replacement process
   * survives.
   */
  readonly marker: string
}

export const planVariable = 'TEST_KILL_PLAN'

const preload = fileURLToPath(new URL('kill-at.ts', import.meta.url))

/** Returns the environment of a program that the plan kills. */
export function environmentFor(plan: KillPlan): Record<string, string> {
  return {
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${preload}`,
    [planVariable]: JSON.stringify(plan),
  }
}
