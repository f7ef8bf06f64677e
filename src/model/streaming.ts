// The subjects and events of streams, independent of the language that formats them.

import type { RequestErrorCode } from '../base/request-errors.ts'
import type { Transaction } from '../storage/store/store-contract.ts'
import type { Micros, Ref, Value } from '../values/value.ts'

/** The data whose changes a stream reports. */
export type StreamSubject =
  | { readonly kind: 'document'; readonly ref: Ref }
  /** The set of documents in a user collection, or in a native collection that supports streams. */
  | { readonly kind: 'documents'; readonly collection: Ref }
  | { readonly kind: 'match'; readonly index: Ref; readonly terms: readonly Value[] }
  /** All writes to documents of a collection. */
  | { readonly kind: 'writes'; readonly collection: Ref }

/** The members of events that clients can select. */
export type StreamField = 'action' | 'document' | 'diff' | 'prev' | 'index'

/** An event before it is formatted for clients. */
export interface StreamEvent {
  readonly type: 'version' | 'history_rewrite' | 'set'
  /** The document that the event is about. */
  readonly document: Ref
  /** Returns the value of the member `field`; undefined if events of this type do not have the member. */
  readonly member: (field: StreamField) => Value | undefined
  /** Present if some members show the document as it was before the transaction. */
  readonly past?: {
    /** The members that show the document before the transaction. */
    readonly fields: readonly StreamField[]
    /** The event for clients who may not see the document before the transaction. */
    readonly redacted: StreamEvent
  }
}

/** The reason why the service ends a stream. Shown in the last event of the stream. */
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
  /** The commit time of the transaction that caused the end; 0 if no transaction caused the end. */
  readonly txn: Micros
}

/** Formats the first and the last event of a stream. Each result is text with a line end. */
export interface StreamWording {
  /** Returns the first event of a stream. */
  start(time: Micros): string
  /** Returns the last event of a stream that the service ends; empty if the stream has no such event. */
  end(reason: StreamEnd): string
}

/** Formats all events of a stream. */
export interface StreamFormat extends StreamWording {
  /** Two formats with the same key produce the same text. */
  readonly key: string
  /** The members that the events of the stream show. */
  readonly fields: readonly StreamField[]
  /** Formats an event of the transaction that was committed at `txn`. */
  event(event: StreamEvent, txn: Micros, transaction: Transaction): string
}

/** A position in a stream: after the event with the number `ordinal` in the transaction that committed at `time`. */
export interface StreamPlace {
  readonly time: Micros
  readonly ordinal: number
}

/** A parsed page of the events that follow a position. */
export interface StreamPage {
  /** The text of each event with its position and its line end. */
  readonly lines: readonly { readonly place: StreamPlace; readonly text: string }[]
  /** The position after which the next page begins. */
  readonly place: StreamPlace
  readonly hasNext: boolean
  /** True if the last event of the page ends the stream. */
  readonly isOver: boolean
  /** The costs of reading the page, for a status event. The language defines the order of the numbers. */
  readonly costs: readonly number[]
}

/**
 * A stream whose events are formatted when the service finds them in a new transaction. All languages use this type.
 */
export interface PushedOrder {
  readonly kind: 'pushed'
  readonly subject: StreamSubject
  readonly format: StreamFormat
}

/**
 * A stream with code that runs for each event, such as a filter. The code may run for a long time, so events are read
 * in pages. Each page is read by a separate request.
 */
export interface PagedOrder {
  readonly kind: 'paged'
  /** The data whose changes trigger the next read. */
  readonly subject: StreamSubject
  /** Two orders with the same key produce the same events after the same position. */
  readonly key: string
  /** The position after which the stream begins. */
  readonly place: StreamPlace
  readonly wording: StreamWording
  /** Returns the body of the request for the page that follows the position `after`. */
  request(after: StreamPlace, size: number): string
  /** Parses the body of the response to such a request. */
  read(body: string): StreamPage
  /** Returns a status event. The service sends it when a stream has had no events for some time. */
  status(place: StreamPlace, costs: readonly number[]): string
}

/** The stream that a query opens. */
export type StreamOrder = PushedOrder | PagedOrder
