// Writes and reads the requests and responses between the command line and a service. The command line works only with
// a service of the same version.

import type { BatchOptions, BatchResult, MissingReference, OnConflict, Outcome } from './batch-writer.ts'
import type { ExportPage, ExportPageRequest, PagePlace } from './read-page.ts'
import { BadRecord, type DocumentRecord } from './record.ts'
import { isStoredTime } from './record-check.ts'
import { readRecord, recordText } from './record-text.ts'
import { readId } from './references.ts'
import type { NamedDocument } from './service.ts'

/** The paths of the endpoints. */
export const transferPaths = {
  write: '/api/v1/transfer/write',
  missing: '/api/v1/transfer/missing',
  snapshot: '/api/v1/transfer/snapshot',
  page: '/api/v1/transfer/page',
} as const

type Outcomes = readonly (Outcome['kind'] | readonly [kind: 'conflict' | 'bad' | 'unmet', reason: string])[]

/** The request for a batch: the options in the first line, then one record per line. */
export function writeRequestText(records: readonly DocumentRecord[], options: BatchOptions): string {
  return [JSON.stringify(options), ...records.map(recordText)].join('\n')
}

/** Reads a batch. Throws {@link BadRecord} for an invalid request. */
export function readWriteRequest(body: string): {
  options: BatchOptions
  records: readonly DocumentRecord[]
} {
  const [head = '', ...lines] = body.split('\n')
  const { checks: given, dryRun = false, onConflict } = fieldsOf(head)
  const known: readonly unknown[] = ['fail', 'keep', 'replace'] satisfies OnConflict[]
  if (!known.includes(onConflict)) throw new BadRecord('onConflict has to be one of fail, keep, replace')
  if (typeof dryRun !== 'boolean') throw new BadRecord('dryRun has to be true or false')
  if (given !== undefined && given !== 'each' && given !== 'together')
    throw new BadRecord('checks has to be each or together')
  const checks: BatchOptions['checks'] = given
  const options = { onConflict: onConflict as OnConflict, dryRun, checks }
  return { options, records: lines.flatMap((line, at) => (line === '' ? [] : [recordOf(line, at + 2)])) }
}

/** Reads the record in a line. `number`: the line number, counted from 1. */
function recordOf(line: string, number: number): DocumentRecord {
  try {
    return readRecord(line)
  } catch (error) {
    if (error instanceof BadRecord) throw new BadRecord(`line ${number}: ${error.message}`)
    throw error
  }
}

/** The response to a batch, as JSON. */
export function writeResponse({ outcomes, missing, unresolved }: BatchResult): object {
  return {
    outcomes: outcomes.map(outcome => ('reason' in outcome ? [outcome.kind, outcome.reason] : outcome.kind)),
    missing: missing.map(({ record, collection, id }) => [record, collection, String(id)]),
    unresolved: unresolved.map(({ record, what }) => [record, what]),
  }
}

/** Reads the parsed JSON of {@link writeResponse}. */
export function readWriteResponse(json: unknown): BatchResult {
  const { outcomes, missing, unresolved } = json as {
    readonly outcomes: Outcomes
    readonly missing: readonly (readonly [number, string, string])[]
    readonly unresolved: readonly (readonly [number, string])[]
  }
  return {
    outcomes: outcomes.map(each =>
      typeof each === 'string' ? ({ kind: each } as Outcome) : { kind: each[0], reason: each[1] },
    ),
    missing: missing.map(
      ([record, collection, id]): MissingReference => ({ record, collection, id: BigInt(id) }),
    ),
    unresolved: unresolved.map(([record, what]) => ({ record, what })),
  }
}

/** The request that asks which of the given documents are missing, as JSON. */
export function missingRequestText(documents: readonly NamedDocument[]): string {
  return JSON.stringify({ documents: documents.map(({ collection, id }) => [collection, String(id)]) })
}

/** Reads the text of {@link missingRequestText}. Throws {@link BadRecord} for an invalid request. */
export function readMissingRequest(body: string): readonly NamedDocument[] {
  const { documents } = fieldsOf(body)
  if (!Array.isArray(documents)) throw new BadRecord('`documents` has to be an array')
  return documents.map((each: unknown) => {
    const [collection, id] = Array.isArray(each) ? each : []
    if (typeof collection !== 'string') throw new BadRecord('a document is a collection and an id')
    return { collection, id: idOf(id) }
  })
}

/** The request for a page of an export, as JSON. */
export function pageRequestText({ at, collection, history, place }: ExportPageRequest): string {
  return JSON.stringify({ at, collection, history, place: placeJson(place) })
}

/** Reads a request for a page. Throws {@link BadRecord} for an invalid request. */
export function readPageRequest(body: string): ExportPageRequest {
  const { at, collection, history, place } = fieldsOf(body)
  if (!isStoredTime(at) || typeof collection !== 'string')
    throw new BadRecord('`at`, a time in microseconds, and `collection` are needed')
  return { at, collection, history: history === true, place: readPlace(place) }
}

/** A page of an export, as JSON. */
export function pageText({ next, records }: ExportPage): string {
  return [JSON.stringify({ next: next && placeJson(next) }), ...records.map(recordText)].join('\n')
}

/** The inverse of {@link pageText}. */
export function readPageText(text: string): ExportPage {
  const [head = '', ...lines] = text.split('\n')
  const { next } = fieldsOf(head)
  return { next: next === undefined ? undefined : readPlace(next), records: lines.map(readRecord) }
}

function placeJson(place: PagePlace): readonly unknown[] {
  if (place.part === 'live') return ['live', place.after === undefined ? null : String(place.after)]
  return ['ended', place.after, String(place.id)]
}

function readPlace(json: unknown): PagePlace {
  const [part, after, id] = Array.isArray(json) ? (json as readonly unknown[]) : []
  if (part === 'live') return { part, after: after === null ? undefined : idOf(after) }
  if (part === 'ended' && isStoredTime(after)) return { part, after, id: idOf(id) }
  throw new BadRecord('`place` cannot be read')
}

function idOf(text: unknown): bigint {
  const id = readId(text)
  if (id === undefined) throw new BadRecord('an id cannot be read')
  return id
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(text)
    if (typeof json === 'object' && json !== null) return json as Readonly<Record<string, unknown>>
  } catch {
    // The error is thrown below.
  }
  throw new BadRecord('a JSON object is expected')
}
