// At which operation a process is killed, and how a test says so to the processes that it starts. The plan travels in the
// environment, so it also reaches workers, slow-lane processes and threads.

import { fileURLToPath } from 'node:url'

/** A kind of process. `committer`: a service without workers, the supervisor of workers, or a test's own program. */
export type Victim = 'committer' | 'worker' | 'slow lane'

/** What a process is doing when it is killed. */
export type Phase =
  /** Writing a record. */
  | 'append'
  /** Waiting for the disk, or handling its response. */
  | 'flush'
  /** Showing other processes a durable record, or responding. */
  | 'acknowledge'
  /** Making the file of a new segment. */
  | 'rotate'
  /** Giving a file another name, or removing it, because LMDB has its rows. */
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
  /** The number of the operation in its phase, from 0. */
  readonly operation: number
  /** When during the operation: 0 before it, 1 after it, between the two a share of its bytes or of a millisecond. */
  readonly share: number
  /** A file that must not exist: only one process is killed, and none that replaces it. */
  readonly marker: string
}

/** Name of the environment variable that holds a plan. */
export const planVariable = 'TEST_KILL_PLAN'

const preload = fileURLToPath(new URL('kill-at.ts', import.meta.url))

/** The environment of a program that carries out a plan. */
export function environmentFor(plan: KillPlan): Record<string, string> {
  return {
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${preload}`,
    [planVariable]: JSON.stringify(plan),
  }
}
