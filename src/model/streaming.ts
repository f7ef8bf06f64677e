// What a stream follows, and what it tells: the part that has no wording.

import type { RequestErrorCode } from '../base/errors.ts'
import type { Transaction } from '../storage/store/contract.ts'
import type { Micros, Ref, Value } from '../values/value.ts'

/** What a stream follows. */
export type StreamSubject =
  | { readonly kind: 'document'; readonly ref: Ref }
  /** The documents of a collection, a user's or one of the native ones that can be followed. */
  | { readonly kind: 'documents'; readonly collection: Ref }
  | { readonly kind: 'match'; readonly index: Ref; readonly terms: readonly Value[] }
  /** Every write to a document of a collection. */
  | { readonly kind: 'writes'; readonly collection: Ref }

/** The members that an event may have. */
export type StreamField = 'action' | 'document' | 'diff' | 'prev' | 'index'

/** One event, before it is known who may see it and how. */
export interface StreamEvent {
  readonly type: 'version' | 'history_rewrite' | 'set'
  /** The document it is about. */
  readonly document: Ref
  /** A member as a value; undefined where events of this type have none. */
  readonly member: (field: StreamField) => Value | undefined
  /** Present if members show the document as it was before the transaction. */
  readonly past?: {
    /** The members that do. */
    readonly fields: readonly StreamField[]
    /** The event for viewers who may not see that. */
    readonly withheld: StreamEvent
  }
}

/** Why a stream ends, as its last event says it. */
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
  /** 0 when no transaction is to blame. */
  readonly txn: Micros
}

/** How a stream tells of itself: each event as a text with its line end. */
export interface StreamWording {
  /** The first event of every stream. */
  start(time: Micros): string
  /** The last event of a stream that the service ends; empty for one that just ends. */
  end(reason: StreamEnd): string
}

/** How a stream tells its events, too. */
export interface StreamFormat extends StreamWording {
  /** Formats with the same key tell the same. */
  readonly key: string
  /** The members that its events show. */
  readonly fields: readonly StreamField[]
  /** An event of the transaction that was committed at `txn`. */
  event(event: StreamEvent, txn: Micros, transaction: Transaction): string
}

/** A place among the events of a stream: behind the event of that number of the transaction at that time. */
export interface StreamPlace {
  readonly time: Micros
  readonly ordinal: number
}

/** The events of a stream behind some place, as a language has read them. */
export interface StreamPage {
  /** Each with its place, as text with its line end. */
  readonly lines: readonly { readonly place: StreamPlace; readonly text: string }[]
  /** Where the next page goes on. */
  readonly place: StreamPlace
  readonly hasNext: boolean
  /** The last event ends the stream. */
  readonly isOver: boolean
  /** What finding nothing has cost, as its language sums it up. */
  readonly costs: readonly number[]
}

/** What a query asks for that opens a stream: events that are told as they are found in each transaction, the same for all languages. */
export interface ToldOrder {
  readonly kind: 'told'
  readonly subject: StreamSubject
  readonly format: StreamFormat
}

/** The same where code decides what is told, which may take long: events are read page by page, each by a request of its own. */
export interface PagedOrder {
  readonly kind: 'paged'
  /** What happens there is worth a look. */
  readonly subject: StreamSubject
  /** Orders with the same key tell the same behind the same place. */
  readonly key: string
  /** Where it begins. */
  readonly place: StreamPlace
  readonly wording: StreamWording
  /** The body of the request for the next page. */
  request(behind: StreamPlace, size: number): string
  /** What the body of its response says. */
  read(body: string): StreamPage
  /** The event of a stream that has had none for long, at a place that it has come to. */
  status(place: StreamPlace, costs: readonly number[]): string
}

/** What a query asks for that opens a stream. */
export type StreamOrder = ToldOrder | PagedOrder
