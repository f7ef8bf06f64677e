// Requests and responses between the command line and a service of the same version.

import { micros } from '../base/micros.ts'
import type { BatchOptions, BatchResult, MissingReference, OnConflict, Outcome } from './batch-writer.ts'
import type { ExportPage, ExportPageRequest, ExportSnapshot, PagePlace, VersionsPlace } from './read-page.ts'
import { BadRecord, type DocumentRecord } from './record.ts'
import { isStoredTime } from './record-check.ts'
import { readRecord, recordText } from './record-text.ts'
import { readId } from './references.ts'
import type { NamedDocument } from './service.ts'

export const transferPaths = {
  write: '/api/v1/transfer/write',
  missing: '/api/v1/transfer/missing',
  snapshot: '/api/v1/transfer/snapshot',
  page: '/api/v1/transfer/page',
} as const

/** The options in the first line, then one record per line. */
export function writeRequestText(records: readonly DocumentRecord[], options: BatchOptions): string {
  return [JSON.stringify(options), ...records.map(recordText)].join('\n')
}

/** Calls `read` for each line and its index. */
type ReadLines = (
  lines: Iterable<readonly [number, string]>,
  read: (line: readonly [number, string]) => void,
) => Promise<void>

/**
 * Rejects with {@link BadRecord} for an invalid request. `readLines` may pause between lines, so that a long request
 * does not block the process.
 */
export async function readWriteRequest(
  body: string,
  readLines: ReadLines,
): Promise<{ options: BatchOptions; records: readonly DocumentRecord[] }> {
  const [head = '', ...lines] = body.split('\n')
  const { checks, dryRun = false, onConflict } = fieldsOf(head)
  const known: readonly unknown[] = ['fail', 'keep', 'replace'] satisfies OnConflict[]
  if (!known.includes(onConflict)) throw new BadRecord('onConflict has to be one of fail, keep, replace')
  if (typeof dryRun !== 'boolean') throw new BadRecord('dryRun has to be true or false')
  if (checks !== undefined && checks !== 'each' && checks !== 'together')
    throw new BadRecord('checks has to be each or together')
  const options: BatchOptions = { onConflict: onConflict as OnConflict, dryRun, checks }
  const records: DocumentRecord[] = []
  const read = ([at, line]: readonly [number, string]) => {
    if (line !== '') records.push(recordOf(line, at + 2))
  }
  await readLines(lines.entries(), read)
  return { options, records }
}

/** `number` starts at 1. */
function recordOf(line: string, number: number): DocumentRecord {
  try {
    return readRecord(line)
  } catch (error) {
    if (error instanceof BadRecord) throw new BadRecord(`line ${number}: ${error.message}`)
    throw error
  }
}

export function writeResponse({ outcomes, missing, unresolved }: BatchResult): object {
  return {
    outcomes: outcomes.map(outcome => ('reason' in outcome ? [outcome.kind, outcome.reason] : outcome.kind)),
    missing: missing.map(({ record, collection, id }) => [record, collection, String(id)]),
    unresolved: unresolved.map(({ record, what }) => [record, what]),
  }
}

/**
 * Reads the parsed JSON of {@link writeResponse} for a batch of `count` records. Throws {@link BadRecord} for a
 * response of another program.
 */
export function readWriteResponse(json: unknown, count: number): BatchResult {
  const { outcomes, missing, unresolved } = objectOf(json)
  const indexOf = (value: unknown) => {
    if (!Number.isSafeInteger(value) || (value as number) < 0 || (value as number) >= count)
      throw badResponse()
    return value as number
  }
  const found = listOf(outcomes).map(outcomeOf)
  if (found.length !== count) throw badResponse()
  return {
    outcomes: found,
    missing: listOf(missing).map((each): MissingReference => {
      const [record, collection, id] = listOf(each)
      return { record: indexOf(record), collection: textOf(collection), id: idOf(id) }
    }),
    unresolved: listOf(unresolved).map(each => {
      const [record, what] = listOf(each)
      return { record: indexOf(record), what: textOf(what) }
    }),
  }
}

function outcomeOf(json: unknown): Outcome {
  const [kind, reason] = Array.isArray(json) ? (json as readonly unknown[]) : [json]
  const isKnown = reason === undefined ? outcomesWithoutReason.has(kind) : outcomesWithReason.has(kind)
  if (!isKnown) throw badResponse()
  return (reason === undefined ? { kind } : { kind, reason: textOf(reason) }) as Outcome
}

const outcomesWithoutReason: ReadonlySet<unknown> = new Set<Outcome['kind']>([
  'written',
  'equal',
  'kept',
  'replaced',
  'expired',
])
const outcomesWithReason: ReadonlySet<unknown> = new Set<Outcome['kind']>(['conflict', 'bad', 'unmet'])

/** Returns for each of `count` documents whether it is missing. Throws {@link BadRecord}. */
export function readMissingResponse(json: unknown, count: number): readonly boolean[] {
  const found = listOf(json)
  if (found.length !== count || found.some(each => typeof each !== 'boolean')) throw badResponse()
  return found as readonly boolean[]
}

/** Throws {@link BadRecord}. */
export function readSnapshotResponse(json: unknown): ExportSnapshot {
  const { at, collections } = objectOf(json)
  if (!isStoredTime(at)) throw badResponse()
  return { at, collections: listOf(collections).map(textOf) }
}

function objectOf(json: unknown): Readonly<Record<string, unknown>> {
  if (typeof json !== 'object' || json === null) throw badResponse()
  return json as Readonly<Record<string, unknown>>
}

function listOf(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw badResponse()
  return json
}

function textOf(json: unknown): string {
  if (typeof json !== 'string') throw badResponse()
  return json
}

function badResponse(): BadRecord {
  return new BadRecord('its response cannot be read')
}

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

export function pageRequestText({ at, collection, history, place }: ExportPageRequest): string {
  return JSON.stringify({ at, collection, history, place: placeJson(place) })
}

/** Throws {@link BadRecord} for an invalid request. */
export function readPageRequest(body: string): ExportPageRequest {
  const { at, collection, history, place } = fieldsOf(body)
  if (!isStoredTime(at) || typeof collection !== 'string')
    throw new BadRecord('`at`, a time in microseconds, and `collection` are needed')
  return { at, collection, history: history === true, place: readPlace(place) }
}

export function pageText({ next, records }: ExportPage): string {
  return [JSON.stringify({ next: next && placeJson(next) }), ...records.map(recordText)].join('\n')
}

/** The inverse of {@link pageText}. Throws {@link BadRecord}. */
export function readPageText(text: string): ExportPage {
  const [head = '', ...lines] = text.split('\n')
  const { next } = fieldsOf(head)
  return { next: next === undefined ? undefined : readPlace(next), records: lines.map(readRecord) }
}

function placeJson(place: PagePlace): readonly unknown[] {
  if (place.part === 'versions') return ['versions', place.after, placeJson(place.of)]
  if (place.part === 'live') return ['live', place.after === undefined ? null : String(place.after)]
  return ['ended', place.after, String(place.id)]
}

function readPlace(json: unknown): PagePlace {
  const [part, after, of] = Array.isArray(json) ? (json as readonly unknown[]) : []
  if (part !== 'versions') return readDocumentPlace(json)
  const place = readDocumentPlace(of)
  if (!Number.isSafeInteger(after) || place.after === undefined) throw new BadRecord('`place` cannot be read')
  return { part, after: micros(after as number), of: place as VersionsPlace['of'] }
}

function readDocumentPlace(json: unknown): Exclude<PagePlace, VersionsPlace> {
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
