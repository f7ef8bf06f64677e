// An export request: its parameters and its state machine. docs/internals/export-states.md draws the states.

import { assert } from '../base/assert.ts'
import type { Micros } from '../values/value.ts'
import type { RecordFilter } from './segment-reader.ts'

/** States as clients see them. */
export const exportStates = [
  'Requested',
  'Pending',
  'CreatingNewUrl',
  'Complete',
  'DoesNotExist',
  'Failed',
  'TimedOut',
] as const

export type ExportState = (typeof exportStates)[number]

export const transitions: Readonly<Record<ExportState, readonly ExportState[]>> = {
  /** The service has accepted the request, but no process has claimed it yet. */
  Requested: ['Pending', 'Failed', 'TimedOut'],
  /** The file is being created. */
  Pending: ['CreatingNewUrl', 'DoesNotExist', 'Failed', 'TimedOut'],
  /** The file exists, and a URL for it is being created. A file that has vanished is created again. */
  CreatingNewUrl: ['Complete', 'Pending', 'Failed', 'TimedOut'],
  /** The URL works until it expires. A later request creates a new URL. */
  Complete: ['CreatingNewUrl'],
  /** No record matched. */
  DoesNotExist: [],
  Failed: [],
  /** The export exceeded its time limit. */
  TimedOut: [],
}

/** States in which a request waits or is being processed. */
export const unfinishedStates: ReadonlySet<ExportState> = new Set(['Requested', 'Pending', 'CreatingNewUrl'])

export interface ExportRequest {
  /** A UUID (version 7, so that ids sort by age). */
  readonly id: string
  readonly state: ExportState
  /** The number of the current URL: 1 for the first URL of the request, and one more for each new URL. */
  readonly version: number
  /** The start and the end of the time span, as the client wrote them. */
  readonly timeStart: string
  readonly timeEnd: string
  /** The parsed `timeStart` and `timeEnd`, in milliseconds since the Unix epoch. */
  readonly from: number
  readonly to: number
  readonly regionGroup: string
  /** The exported database. Undefined if the export covers a whole region group. */
  readonly database?: ExportDatabase
  /** The owner for fair queueing: the operator, or the outermost database of the caller. */
  readonly requester: string
  readonly createdAt: Micros
  readonly updatedAt: Micros
  /** The start of the current processing, from which the time limit counts. */
  readonly startedAt: Micros
  /** Number of claims of the request in the current processing. Claims that were released are not counted. */
  readonly attempts: number
  /** The process that works on the request, and the end of its lease. */
  readonly lease?: { readonly owner: string; readonly until: Micros }
  /** Present in the state `Complete`. */
  readonly url?: { readonly address: string; readonly expiresAt: Micros }
}

/** Queries of this database and its descendants are exported. */
export interface ExportDatabase {
  /** The path with the region group in front, such as `us-std/parent/child`. */
  readonly path: string
  /** Names, outermost first. */
  readonly names: readonly string[]
  /** Ids in decimal, outermost first. The last id is the id of the database itself. */
  readonly ids: readonly string[]
}

/** Returns the part of a record filter that restricts an export to its database. */
export function databaseFilter(database: ExportDatabase | undefined): Pick<RecordFilter, 'database'> {
  return database === undefined ? {} : { database: database.ids.at(-1) }
}

export function hasExpiredUrl({ state, url }: ExportRequest, now: Micros): boolean {
  return state === 'Complete' && url !== undefined && url.expiresAt <= now
}

/** Throws an `InvariantError` if {@link transitions} does not allow the change. */
export function inState(
  request: ExportRequest,
  state: ExportState,
  now: Micros,
  changes: Partial<ExportRequest> = {},
): ExportRequest {
  assert(
    transitions[request.state].includes(state),
    `an export in the state ${request.state} cannot change to ${state}`,
  )
  const { lease, url, ...rest } = request
  const keptLease = unfinishedStates.has(state) && lease ? { lease } : {}
  return { ...rest, ...keptLease, ...changes, state, updatedAt: Math.max(now, request.updatedAt) }
}
