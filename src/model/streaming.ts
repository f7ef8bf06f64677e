// What a stream follows, and what it tells: the part that has no wording.

import type { RequestErrorCode } from '../errors.ts'
import type { Transaction } from '../store/contract.ts'
import type { Micros, Ref, Value } from '../values/value.ts'

/** What a stream follows. */
export type StreamSubject =
  | { readonly kind: 'document'; readonly ref: Ref }
  /** The documents of a collection, a user's or one of the native ones that can be followed. */
  | { readonly kind: 'documents'; readonly collection: Ref }
  | { readonly kind: 'match'; readonly index: Ref; readonly terms: readonly Value[] }

/** The members that an event may have. */
export type StreamField = 'action' | 'document' | 'diff' | 'prev' | 'index'

/** One event, before it is known who may see it and how. */
export interface StreamEvent {
  readonly type: 'version' | 'history_rewrite' | 'set'
  /** The document it is about. */
  readonly document: Ref
  /** A member as a value; undefined where events of this type have none. */
  readonly member: (field: StreamField) => Value | undefined
}

/** Why a stream ends, as its last event says it. */
export interface StreamEnd {
  readonly code: RequestErrorCode | 'permission denied'
  readonly description: string
  /** 0 when no transaction is to blame. */
  readonly txn: Micros
}

/** How a stream tells its events: each as a text with its line end. */
export interface StreamFormat {
  /** Formats with the same key tell the same. */
  readonly key: string
  /** The first event of every stream. */
  start(time: Micros): string
  /** An event of the transaction that was committed at `txn`. */
  event(event: StreamEvent, txn: Micros, transaction: Transaction): string
  /** The last event of a stream that the service ends. */
  end(reason: StreamEnd): string
}

/** What a query asks for that opens a stream. */
export interface StreamOrder {
  readonly subject: StreamSubject
  readonly format: StreamFormat
}
