// Events as they go over the wire: one compact JSON object and a line end. Streams that show the same members in the
// same spelling share a format, so that an event is rendered once for all of them.

import { refNames } from '../engine/render-resource.ts'
import type { StreamField } from '../engine/streaming.ts'
import type { RequestErrorCode } from '../errors.ts'
import type { Transaction } from '../store/contract.ts'
import { renderValue } from '../v4/wire/render.ts'
import type { ApiVersion } from '../v4/wire/version.ts'
import type { DatabaseId, Micros, Value } from '../values/value.ts'
import type { StreamEvent } from './events.ts'

/** How a stream shows its events. The same object for all streams that agree in it. */
export interface EventFormat {
  readonly fields: readonly StreamField[]
  readonly apiVersion: ApiVersion
  /** The database from which references are named. */
  readonly scope: DatabaseId
}

/** Why a stream ends, as its last event says it. */
export interface StreamEnd {
  readonly code: RequestErrorCode | 'permission denied'
  readonly description: string
  /** 0 when no transaction is to blame. */
  readonly txn: Micros
}

function line(type: string, txn: Micros, event: string): string {
  return `{"type":"${type}","txn":${txn},"event":${event}}\r\n`
}

/** The first event of every stream. */
export function startLine(start: Micros): string {
  return line('start', start, String(start))
}

/** The last event of a stream that the service ends. */
export function errorLine({ code, description, txn }: StreamEnd): string {
  return line('error', txn, JSON.stringify({ code, description }))
}

/** An event of the transaction committed at `txn`. */
export function eventLine(
  event: StreamEvent,
  txn: Micros,
  { fields, apiVersion, scope }: EventFormat,
  transaction: Transaction,
): string {
  const members = new Map<string, Value>()
  for (const field of fields) {
    const value = event.member(field)
    if (value !== undefined) members.set(field, value)
  }
  const names = refNames(scope, transaction)
  return line(event.type, txn, renderValue(members, { apiVersion, transactionTime: txn, names }) as string)
}
