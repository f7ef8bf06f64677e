// What a stream request asks for: the value of its expression as something to follow, the members its events show.
// Streams themselves live in the layer above, which is handed in as a {@link StreamOpener}.

import { isUserDocument } from '../model/read.ts'
import type { Session } from '../model/session.ts'
import { undefinedReferenceText } from '../v4/definition.ts'
import { apiVersionOf } from '../v4/dialect.ts'
import { type ErrorEntry, errorEntry, QueryError } from '../v4/errors.ts'
import { isAtLeast } from '../v4/wire/version.ts'
import {
  DocumentValue,
  firstUserCollection,
  native,
  Ref,
  SetValue,
  typeName,
  UnresolvedRef,
  type Value,
} from '../values/value.ts'
import type { EventStream } from './contract.ts'

/** The members an event may have, in their order on the wire. */
const streamFields = ['action', 'document', 'diff', 'prev', 'index'] as const
export type StreamField = (typeof streamFields)[number]

const defaultFields: readonly StreamField[] = ['action', 'document']

/** What a stream follows. */
export type StreamSubject =
  | { readonly kind: 'document'; readonly ref: Ref }
  /** The documents of a collection, a user's or one of the native ones that can be followed. */
  | { readonly kind: 'documents'; readonly collection: Ref }
  | { readonly kind: 'match'; readonly index: Ref; readonly terms: readonly Value[] }

/** What it takes to open a stream. */
export interface StreamOpening {
  readonly subject: StreamSubject
  /** In the order of {@link streamFields}. */
  readonly fields: readonly StreamField[]
  /** Of the expression: says who asks, and on which snapshot the stream begins. */
  readonly session: Session
}

/** Opens streams. Called within the transaction of the opening's evaluation. */
export interface StreamOpener {
  open(opening: StreamOpening): EventStream
  /** Ends all open streams and refuses further ones. */
  end(): void
}

/** The members that the URL parameter `fields` asks for. Throws one `invalid url parameter` for each unknown name. */
export function readStreamFields(parameter: string | undefined): readonly StreamField[] {
  const names = (parameter ?? '').split(',').map(name => name.trim())
  const wanted = names.filter(name => name !== '')
  const unknown = wanted.filter(name => streamFields.every(field => field !== name))
  if (unknown.length > 0) throw new QueryError(unknown.map(unknownField))
  return wanted.length === 0 ? defaultFields : streamFields.filter(field => wanted.includes(field))
}

function unknownField(name: string): ErrorEntry {
  const description = `Invalid url parameter fields. Invalid field name '${name}'.`
  return errorEntry('invalid url parameter', description, [])
}

/** The native collections whose documents can be followed as a set: a fact of the protocol. */
const followedNatives: ReadonlySet<bigint> = new Set([BigInt(native.tokens), BigInt(native.credentials)])

/** What a value means as the subject of a stream. Throws for everything that cannot be followed. */
export function streamSubject(value: Value, session: Session): StreamSubject {
  if (value instanceof UnresolvedRef) throw undefinedSubject(value, session)
  const ref = value instanceof DocumentValue ? value.ref : value
  if (ref instanceof Ref && isUserDocument(ref)) return { kind: 'document', ref }
  if (value instanceof SetValue) {
    const { shape } = value
    if (shape.type === 'match') return { kind: 'match', index: shape.index, terms: shape.terms }
    if (shape.type === 'documents' && canFollow(shape.collection)) {
      return { kind: 'documents', collection: shape.collection }
    }
  }
  const description = `Expected a Document Ref or Version, or a Set Ref, got ${typeName(value)}.`
  throw QueryError.of('invalid argument', description, [])
}

function canFollow({ id }: Ref): boolean {
  return id >= BigInt(firstUserCollection) || followedNatives.has(id)
}

function undefinedSubject(ref: UnresolvedRef, session: Session): QueryError {
  const text = undefinedReferenceText(ref)
  const spelled = isAtLeast(apiVersionOf(session), '2.7')
    ? text
    : text.replace('undefined collection', 'undefined class')
  return QueryError.of('invalid ref', spelled, [])
}
