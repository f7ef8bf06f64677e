// Finds the deleted documents of a collection in its history, and restores them.

import { at, type Json, type Query, textAt } from '../wire/json.ts'
import { documentRef, refOf } from '../wire/refs.ts'
import { ChangedError } from './checked-writes.ts'
import { asPage, mapping, pageOf, read, variable, write } from './data.ts'
import type { DocumentName } from './documents.ts'

export interface DeletedDocument {
  readonly id: string
  /** Transaction time of the deletion. */
  readonly ts: bigint
  /** Undefined if the last version is no longer stored. */
  readonly data: Json | undefined
}

/** The number of events per request. */
const eventsAtOnce = 500

/** A page of deleted documents, the newest deletion first. */
interface DeletedPage {
  readonly documents: readonly DeletedDocument[]
  /** Cursor of older events; undefined at the start of the history. */
  readonly older: Json | undefined
}

/** Evaluates an expression at the time just before a deletion. */
function justBefore(ts: Query, expression: Query): Query {
  return {
    at: { time_subtract: { epoch: ts, unit: 'microseconds' }, offset: 1n, unit: 'microseconds' },
    expr: expression,
  }
}

/**
 * Reads a page of the newest events, or of the events before `older`. Returns the documents that these events deleted
 * and that do not exist now.
 */
export async function listDeleted(
  collection: string,
  older: Json | undefined,
  signal: AbortSignal,
): Promise<DeletedPage> {
  const events = pageOf({ events: { documents: { collection } } }, eventsAtOnce, { before: older ?? null })
  const instance: Query = { select: 'instance', from: variable() }
  const ts: Query = { select: 'ts', from: variable() }
  const isDeletion: Query = { equals: [{ select: 'action', from: variable() }, 'remove'] }
  const isGone: Query = { and: [isDeletion, { not: { exists: instance } }] }
  const last: Query = { select: 'data', from: { get: instance }, default: { object: {} } }
  const lastData: Query = { if: { exists: instance }, then: last, else: null }
  const described: Query = { object: { instance, ts, data: justBefore(ts, lastData) } }
  const found: Query = { filter: { lambda: 'element', expr: isGone }, collection: events }
  const page = asPage((await read(mapping(found, described), signal)).value)
  const documents = new Map<string, DeletedDocument>()
  for (const element of page.data) {
    const id = refOf(at(element, 'instance'))?.id
    const time = at(element, 'ts')
    // The events are in the order of time, so the last deletion of a document replaces its earlier ones.
    if (id !== undefined && typeof time === 'bigint') {
      documents.delete(id)
      documents.set(id, { id, ts: time, data: at(element, 'data') ?? undefined })
    }
  }
  return { documents: [...documents.values()].reverse(), older: page.before }
}

/** Restores the document with its id and last data. Throws `ChangedError` when the document exists again. */
export async function restoreDocument(
  { collection, id }: DocumentName,
  ts: bigint,
  signal: AbortSignal,
): Promise<void> {
  const ref = documentRef(collection, id)
  const data: Query = { select: 'data', from: { get: ref }, default: { object: {} } }
  const create: Query = { do: [{ create: ref, params: { object: { data: { var: 'data' } } } }, 'done'] }
  const query: Query = {
    let: [{ data: justBefore(ts, data) }],
    in: { if: { exists: ref }, then: 'there', else: create },
  }
  const { value } = await write({ object: { outcome: query } }, signal)
  if (textAt(value, 'outcome') !== 'done') throw new ChangedError()
}
