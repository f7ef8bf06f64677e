// Streams of version 4. The value of a query determines the subject of the stream: a document or a set. This file also
// formats the events of streams.

import { msg } from '../base/message.ts'
import { isUserDocument } from '../model/read.ts'
import type { Session } from '../model/session.ts'
import type {
  PushedOrder,
  StreamEnd,
  StreamEvent,
  StreamField,
  StreamFormat,
  StreamSubject,
} from '../model/streaming.ts'
import type { Transaction } from '../storage/store/store-contract.ts'
import {
  type DatabaseId,
  DocumentValue,
  firstUserCollection,
  type Micros,
  native,
  Ref,
  UnresolvedRef,
  type Value,
} from '../values/value.ts'
import { refNames } from './bodies.ts'
import { apiVersionOf, undefinedReferenceText } from './definition.ts'
import { type ErrorEntry, errorEntry, QueryError } from './query-errors.ts'
import { typeName } from './values/tagged.ts'
import { SetValue } from './values/transient.ts'
import { renderValue } from './wire/render.ts'
import type { ApiVersion } from './wire/version.ts'

/** The members of an event, in the order of the rendered JSON. */
const streamFields: readonly StreamField[] = ['action', 'document', 'diff', 'prev', 'index']

const defaultFields: readonly StreamField[] = ['action', 'document']

/**
 * `parameter`: the URL parameter `fields`. Throws a QueryError for an unknown name, before the query runs (`value`), or
 * for a value that cannot be streamed.
 */
export function streamOrder(
  value: () => Value,
  parameter: string | undefined,
  session: Session,
): PushedOrder {
  const fields = readStreamFields(parameter)
  const subject = streamSubject(value(), session)
  return { kind: 'pushed', subject, format: new EventFormat(fields, apiVersionOf(session), session.database) }
}

/** Each event is a compact JSON object, followed by a line break. */
class EventFormat implements StreamFormat {
  readonly key: string
  readonly fields: readonly StreamField[]
  readonly #apiVersion: ApiVersion
  /** References in events are relative to this database. */
  readonly #scope: DatabaseId

  constructor(fields: readonly StreamField[], apiVersion: ApiVersion, scope: DatabaseId) {
    this.key = `${apiVersion} ${scope} ${fields}`
    this.fields = fields
    this.#apiVersion = apiVersion
    this.#scope = scope
  }

  start(time: Micros): string {
    return line('start', time, String(time))
  }

  event(event: StreamEvent, txn: Micros, transaction: Transaction): string {
    const members = new Map<string, Value>()
    for (const field of this.fields) {
      const value = event.member(field)
      if (value !== undefined) members.set(field, value)
    }
    const names = refNames(this.#scope, this.#apiVersion, transaction)
    const context = { apiVersion: this.#apiVersion, transactionTime: txn, names }
    return line(event.type, txn, renderValue(members, context) as string)
  }

  end({ code, description, txn }: StreamEnd): string {
    return line('error', txn, JSON.stringify({ code, description }))
  }
}

function line(type: string, txn: Micros, event: string): string {
  return `{"type":"${type}","txn":${txn},"event":${event}}\r\n`
}

/** Throws a QueryError with an error `invalid url parameter` for each unknown name. */
function readStreamFields(parameter: string | undefined): readonly StreamField[] {
  const names = (parameter ?? '').split(',').map(name => name.trim())
  const wanted = names.filter(name => name !== '')
  const unknown = wanted.filter(name => streamFields.every(field => field !== name))
  if (unknown.length > 0) throw new QueryError(unknown.map(unknownField))
  return wanted.length === 0 ? defaultFields : streamFields.filter(field => wanted.includes(field))
}

function unknownField(name: string): ErrorEntry {
  const description = msg`Invalid url parameter fields. Invalid field name '${name}'.`
  return errorEntry('invalid url parameter', description, [])
}

/** The native collections whose documents can be streamed as a set. The protocol defines this list. */
const streamableNatives: ReadonlySet<bigint> = new Set([BigInt(native.tokens), BigInt(native.credentials)])

/** Throws a QueryError for a value that cannot be streamed. */
function streamSubject(value: Value, session: Session): StreamSubject {
  if (value instanceof UnresolvedRef)
    throw QueryError.of('invalid ref', undefinedReferenceText(value, session), [])
  const ref = value instanceof DocumentValue ? value.ref : value
  if (ref instanceof Ref && isUserDocument(ref)) return { kind: 'document', ref }
  if (value instanceof SetValue) {
    const { shape } = value
    if (shape.type === 'match') return { kind: 'match', index: shape.index, terms: shape.terms }
    if (shape.type === 'documents' && isStreamable(shape.collection)) {
      return { kind: 'documents', collection: shape.collection }
    }
  }
  const description = msg`Expected a Document Ref or Version, or a Set Ref, got ${typeName(value)}.`
  throw QueryError.of('invalid argument', description, [])
}

function isStreamable({ id }: Ref): boolean {
  return id >= BigInt(firstUserCollection) || streamableNatives.has(id)
}
