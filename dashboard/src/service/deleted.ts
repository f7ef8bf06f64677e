// Documents of a collection that were deleted, found in its history, and brought back.

import { at, type Json, type Query, textAt } from '../wire/json.ts'
import { documentRef, refOf } from '../wire/refs.ts'
import { ChangedError } from './checked.ts'
import { asPage, mapping, pageOf, read, variable, write } from './data.ts'
import type { DocumentName } from './documents.ts'

/** A document that is no more. */
export interface DeletedDocument {
  readonly id: string
  /** When it was deleted: a transaction time. */
  readonly ts: bigint
  /** Its last data; undefined where its last version is not kept any more. */
  readonly data: Json | undefined
}

/** Events of the collection that are looked at in one request. */
const eventsAtOnce = 500

/** A part of what was deleted, newest first. */
interface DeletedPage {
  readonly documents: readonly DeletedDocument[]
  /** Where to go on looking further back; undefined at the beginning of the history. */
  readonly older: Json | undefined
}

/** What an expression gave for a document just before a deletion. */
function justBefore(ts: Query, expression: Query): Query {
  return {
    at: { time_subtract: { epoch: ts, unit: 'microseconds' }, offset: 1n, unit: 'microseconds' },
    expr: expression,
  }
}

/** The documents that were deleted in the newest events of a collection, or in those before `older`. */
export async function listDeleted(
  collection: string,
  older: Json | undefined,
  signal: AbortSignal,
): Promise<DeletedPage> {
  const events = pageOf({ events: { documents: { collection } } }, eventsAtOnce, { before: older ?? null })
  const [instance, ts]: Query[] = ['instance', 'ts'].map(name => ({ select: name, from: variable() }))
  const isDeletion: Query = { equals: [{ select: 'action', from: variable() }, 'remove'] }
  const isGone: Query = { and: [isDeletion, { not: { exists: instance ?? null } }] }
  const last: Query = { select: 'data', from: { get: instance ?? null }, default: { object: {} } }
  const lastData: Query = { if: { exists: instance ?? null }, then: last, else: null }
  const described: Query = {
    object: { instance: instance ?? null, ts: ts ?? null, data: justBefore(ts ?? null, lastData) },
  }
  const found: Query = { filter: { lambda: 'element', expr: isGone }, collection: events }
  const page = asPage((await read(mapping(found, described), signal)).value)
  const documents = new Map<string, DeletedDocument>()
  for (const element of page.data) {
    const id = refOf(at(element, 'instance'))?.id
    const time = at(element, 'ts')
    // Of a document that was deleted more than once the last time counts, which comes last.
    if (id !== undefined && typeof time === 'bigint') {
      documents.delete(id)
      documents.set(id, { id, ts: time, data: at(element, 'data') ?? undefined })
    }
  }
  return { documents: [...documents.values()].reverse(), older: page.before }
}

/** Creates a deleted document again, with its id and last data. Throws `ChangedError` when it is there again. */
export async function bringBack(
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
