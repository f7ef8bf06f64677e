// A request for an export: what was asked for, and how far it is. docs/internals/export-states.md draws the
// states; the table here is the machine itself.

import { assert } from '../base/assert.ts'
import type { Micros } from '../values/value.ts'
import type { LoggedDatabase } from './ownership.ts'

/** The states, by the names that clients know. */
export const exportStates = [
  'Requested',
  'Pending',
  'CreatingNewUrl',
  'Complete',
  'DoesNotExist',
  'Failed',
  'TimedOut',
] as const

/** Where an export stands. */
export type ExportState = (typeof exportStates)[number]

/** Every change of state there is. */
export const transitions: Readonly<Record<ExportState, readonly ExportState[]>> = {
  /** Accepted; no worker has taken it yet. */
  Requested: ['Pending', 'Failed', 'TimedOut'],
  /** The file is being made. */
  Pending: ['CreatingNewUrl', 'DoesNotExist', 'Failed', 'TimedOut'],
  /** The file is there (if it has vanished it is made again); a URL for it is being made. */
  CreatingNewUrl: ['Complete', 'Pending', 'Failed', 'TimedOut'],
  /** The URL can be fetched until it expires. Asked for later, a new one is made. */
  Complete: ['CreatingNewUrl'],
  /** No record matched. */
  DoesNotExist: [],
  Failed: [],
  /** It took longer than is allowed. */
  TimedOut: [],
}

/** States in which there is work on the request. */
export const unfinishedStates: ReadonlySet<ExportState> = new Set(['Requested', 'Pending', 'CreatingNewUrl'])

export interface ExportRequest {
  /** A UUID (version 7, so that ids sort by age). */
  readonly id: string
  readonly state: ExportState
  /** Number of the URL: 1 for the first one. */
  readonly version: number
  /** As the client wrote them. */
  readonly timeStart: string
  readonly timeEnd: string
  /** What they mean, in milliseconds since the Unix epoch. */
  readonly from: number
  readonly to: number
  readonly regionGroup: string
  /** The database asked for; absent for a whole region group. */
  readonly database?: ExportedDatabase
  /** With whom others take turns: the operator, or the outermost database of the caller. Absent in requests of 0.1. */
  readonly requester?: string
  readonly createdAt: Micros
  readonly updatedAt: Micros
  /** When the present work on it began; the time limit counts from here. */
  readonly startedAt: Micros
  /** Times that a process began to work on it without bringing it to an end. */
  readonly attempts: number
  /** The process that works on it, and until when others leave it alone. */
  readonly lease?: { readonly owner: string; readonly until: Micros }
  /** Present when complete. */
  readonly url?: { readonly address: string; readonly expiresAt: Micros }
}

/** A database whose queries are exported. */
export interface ExportedDatabase {
  /** With the region group in front, such as `us-std/parent/child`. */
  readonly path: string
  /** Names, outermost first. */
  readonly names: readonly string[]
  /** Ids in decimal, outermost first, the last one that of the database itself. */
  readonly ids: readonly string[]
  /** See {@link LoggedDatabase}; absent in requests of before 0.2. */
  readonly since?: number
}

/** The database of an export, as records are told to be its. */
export function loggedDatabase({ ids, names, since }: ExportedDatabase): LoggedDatabase {
  return { names, id: ids.at(-1) as string, since: since ?? Number.POSITIVE_INFINITY }
}

/** Whether a request is complete, and its URL can be fetched no more. */
export function hasExpiredUrl({ state, url }: ExportRequest, now: Micros): boolean {
  return state === 'Complete' && url !== undefined && url.expiresAt <= now
}

/** The request in its next state. Throws unless the table allows the change. */
export function inState(
  request: ExportRequest,
  state: ExportState,
  now: Micros,
  changes: Partial<ExportRequest> = {},
): ExportRequest {
  assert(transitions[request.state].includes(state), `no way from ${request.state} to ${state}`)
  const { lease, url, ...rest } = request
  const keptLease = unfinishedStates.has(state) && lease ? { lease } : {}
  return { ...rest, ...keptLease, ...changes, state, updatedAt: Math.max(now, request.updatedAt) }
}
