// The subjects and events of streams, independent of the language.

import type { RequestErrorCode } from '../base/request-errors.ts'
import type { Transaction } from '../storage/store/store-contract.ts'
import type { Micros, Ref, Value } from '../values/value.ts'

/** The data whose changes a stream reports. */
export type StreamSubject =
  | { readonly kind: 'document'; readonly ref: Ref }
  /** The set of documents in a collection. */
  | { readonly kind: 'documents'; readonly collection: Ref }
  | { readonly kind: 'match'; readonly index: Ref; readonly terms: readonly Value[] }
  /** All writes of documents in a collection. */
  | { readonly kind: 'writes'; readonly collection: Ref }

/** The event members that clients can select. */
export type StreamField = 'action' | 'document' | 'diff' | 'prev' | 'index'

/** An event before it is formatted for clients. */
export interface StreamEvent {
  readonly type: 'version' | 'history_rewrite' | 'set'
  /** The created, changed or deleted document. */
  readonly document: Ref
  /** Undefined if events of this type do not have the member. */
  readonly member: (field: StreamField) => Value | undefined
  /** Present if the event contains data from before the transaction. */
  readonly past?: {
    /** The members with data from before the transaction. */
    readonly fields: readonly StreamField[]
    /** The event for clients who may not read the data from before the transaction. */
    readonly redacted: StreamEvent
  }
}

/** Why the service ends a stream, for the last event. */
export interface StreamEnd {
  readonly cause:
    | 'rights lost'
    | 'not read'
    | 'replay too long'
    | 'source gone'
    | 'too many streams'
    | 'failed'
  readonly code: RequestErrorCode | 'permission denied'
  readonly description: string
  /** The commit time of the transaction that caused the end, or 0. */
  readonly txn: Micros
}

/** Formats the first and the last event of a stream as text with a line end. */
export interface StreamWording {
  start(time: Micros): string
  /** Empty if the language sends no event at the end. */
  end(reason: StreamEnd): string
}

export interface StreamFormat extends StreamWording {
  /** Two formats with the same key produce the same text for an event. */
  readonly key: string
  readonly fields: readonly StreamField[]
  /** `txn` is the commit time. */
  event(event: StreamEvent, txn: Micros, transaction: Transaction): string
}

/** The place after the event with the index `ordinal` in the transaction with the commit time `time`. */
export interface StreamPlace {
  readonly time: Micros
  readonly ordinal: number
}

/** The events after a place. */
export interface StreamPage {
  /** The place of each event, and the text of the event with a line end. */
  readonly lines: readonly { readonly place: StreamPlace; readonly text: string }[]
  /** The place at the end of the page. */
  readonly place: StreamPlace
  readonly hasNext: boolean
  /** The last event of the page ends the stream. */
  readonly isOver: boolean
  /** The costs of reading the page, for status events. The language defines the meaning of the numbers. */
  readonly costs: readonly number[]
}

/** A stream without code. The service sends the events of each transaction after the commit. */
export interface PushedOrder {
  readonly kind: 'pushed'
  readonly subject: StreamSubject
  readonly format: StreamFormat
}

/**
 * A stream with code that runs for each event, such as a filter. The code may take long, so events are read in pages,
 * with an internal request for each page.
 */
export interface PagedOrder {
  readonly kind: 'paged'
  /** The data whose changes cause a read of the next page. */
  readonly subject: StreamSubject
  /** Streams with the same key have the same events after the same place. */
  readonly key: string
  /** The stream begins here. */
  readonly place: StreamPlace
  readonly wording: StreamWording
  /** The body of the request for the page after a place. */
  request(after: StreamPlace, size: number): string
  read(body: string): StreamPage
  /** Returns a status event, which the service sends after a period without events. */
  status(place: StreamPlace, costs: readonly number[]): string
}

export type StreamOrder = PushedOrder | PagedOrder
