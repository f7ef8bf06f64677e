// The engine's interface for the HTTP server. Bodies of requests and responses are texts, which the engine parses and
// renders.

import type { Ticket } from '../base/admission/ticket.ts'
import type { RequestErrorCode } from '../base/request-errors.ts'
import type { LanguageRequest, QueryMetrics, ResponseFault } from '../model/language.ts'
import type { NamedObject } from '../model/use-recorders.ts'
import type { Attempt } from '../storage/store/attempt.ts'
import type { Transaction } from '../storage/store/store-contract.ts'
import type { LanguageName } from '../values/code.ts'
import type { DatabaseId, Micros } from '../values/value.ts'
import type { Costs, RateKind } from './operation-limits.ts'

/** Endpoints that forbid writes. The error message for a write contains these words. */
export type ReadOnlyPlace = 'get requests' | 'stream requests'

/** A request with validated headers. Without `longBody` and `stampTime`, it is plain data for other processes. */
export interface QueryRequest extends LanguageRequest {
  readonly language: LanguageName
  /** The header as the client sent it. */
  readonly authorization: string | undefined
  /** An IPv4 address, or the 64-bit network of an IPv6 address. */
  readonly address?: string | undefined
  /** Present if the endpoint forbids writes. */
  readonly readOnlyPlace?: ReadOnlyPlace
  /** Even a read-only query runs in a writing transaction, so that its reads are strictly serializable. */
  readonly linearized?: boolean
  /** Time of the last transaction that the client has seen. The snapshot must not be older. */
  readonly lastSeenTxn?: Micros
  readonly timeoutMs: number
  /** Retries after conflicts with other transactions. Undefined: the default of the protocol or of the slow lane. */
  readonly retriesMax?: number | undefined
  /**
   * The client requests an indented response body. A slow-lane process indents long bodies; the HTTP server indents all
   * others.
   */
  readonly prettyBody?: boolean
  readonly isExplanation?: boolean
  /**
   * Commit time for which the query is evaluated. Present if another process commits its writes: see {@link
   * Store.attempt}.
   */
  readonly stampTime?: () => Micros
  /** Replaces `body` for a long query that has not been decoded. */
  readonly longBody?: LongBody | undefined
}

export type { QueryMetrics } from '../model/language.ts'

/** A long body, whose pieces are forwarded as received, without joining them. */
export class LongBody {
  readonly pieces: readonly Uint8Array[]
  /** Length in bytes. */
  readonly length: number
  constructor(pieces: readonly Uint8Array[]) {
    this.pieces = pieces
    this.length = pieces.reduce((bytes, piece) => bytes + piece.length, 0)
  }

  /** Joins the first `bytes` bytes. */
  joined(bytes = this.length): Buffer {
    return Buffer.concat(this.pieces, Math.min(bytes, this.length))
  }
}

/** Names and ids of the database and its ancestors, outermost first; empty for the root. */
export interface DatabasePlace {
  readonly names: readonly string[]
  readonly ids: readonly DatabaseId[]
}

/** Identifies a caller in the query log by values that never change. {@link Engine.nameOf} converts them to names. */
export interface CallerMark {
  /** `root`; `key/17/123` for the key 123 of the database 17; `token/17/123`; or `provider` for third-party tokens. */
  readonly credential: string
  /** Built-in roles by name, other roles by number: `#123`. */
  readonly roles: readonly string[]
  /**
   * Document of the login as `collection/id`, such as `1024/77`, or the subject of a third-party token. Undefined
   * without a login.
   */
  readonly identity: string | undefined
}

export interface NamedCaller {
  readonly kind: 'root' | 'key' | 'token' | 'provider'
  readonly id: string | undefined
  /** Name in the key's document. */
  readonly name: string | undefined
  readonly roles: readonly string[]
  readonly identity: string | undefined
}

/** The engine's result for any request, for the HTTP server. */
export interface QueryResponse {
  readonly status: number
  /**
   * The body in the format of the query language. Before the commit of an attempt, it contains placeholders for the
   * values that depend on the commit.
   */
  readonly body: string
  /** The query log records this fault. */
  readonly fault?: ResponseFault
  /** See {@link RenderedResponse.lesson}. */
  readonly lesson?: string | undefined
  /** Replaces a long `body`. */
  readonly longBody?: LongBody
  readonly txnTime: Micros
  /** The metrics of the query. Undefined for status 401 and 500. */
  readonly metrics: QueryMetrics | undefined
  /** The database of the query; undefined if the credential was rejected. */
  readonly database: DatabaseId | undefined
  readonly place?: DatabasePlace | undefined
  /** Undefined if the credential was rejected. */
  readonly caller?: CallerMark | undefined
  /** Schema objects that the query has found by name. */
  readonly named?: readonly NamedObject[] | undefined
  /** Absent if the request succeeded, or if the query itself failed. */
  readonly requestError?: RequestErrorCode
  /** The slow lane evaluated the query. */
  readonly isSlow?: boolean
  /** The slow lane evaluated the query, and its writes have been committed. */
  readonly isSlowCommit?: boolean
  /** Present if another process commits the writes of the query. The response is valid only after this commit. */
  readonly attempt?: Attempt<unknown>
  /** Evaluates the query of `attempt` again, in a transaction that holds the writer lock. */
  readonly again?: (transaction: Transaction) => { readonly body: string }
}

/** An open stream of one client. */
export interface EventStream {
  /** Decimal; unique among the streams of all processes. */
  readonly id: string
  /** No more events will be queued. Queued events can still be taken. */
  readonly ended: boolean
  /**
   * Removes and returns the oldest queued event as UTF-8 text with its line end, if any. Several streams may return the
   * same array, so the caller must not change the bytes.
   */
  take(): Uint8Array | undefined
  /** Sets the only listener, which the stream calls after events were queued or the stream ended. */
  listen(listener: () => void): void
  /** Frees all resources. The HTTP server calls this after the client has disconnected. */
  close(): void
}

/** The response to a request for a stream. If `stream` is defined, the body consists of the stream's events. */
export interface StreamResponse extends QueryResponse {
  readonly stream?: EventStream
}

/** A response is a promise if the request has to wait. */
export type ResponseOrPromise = QueryResponse | Promise<QueryResponse>

type RunRequest = (request: QueryRequest, ticket: Ticket | undefined) => ResponseOrPromise

/** The identity and rights that a credential gives. */
export interface Principal {
  readonly database: DatabaseId
  readonly place: DatabasePlace
  readonly caller: CallerMark
  /** The caller has the built-in role `admin` in this database. */
  readonly isAdmin: boolean
  /** Built-in; undefined for callers with user-defined roles, and for logins. */
  readonly role: string | undefined
  /** The login: a document, or the subject of a third-party token. */
  readonly identity: { readonly collection: string; readonly id: string } | string | undefined
  /** The credential is the root secret itself, without a scope. */
  readonly isRoot: boolean
}

/**
 * Runs requests, from the credential to the response. `ticket`: the request in the budgets of the service; undefined
 * if the request has no client that could disconnect.
 */
export interface Engine {
  query: RunRequest
  /** `POST /stream`. `fields`: the URL parameter that selects fields of events; undefined for the default fields. */
  openStream(
    request: QueryRequest,
    fields: string | undefined,
    ticket: Ticket | undefined,
  ): StreamResponse | Promise<StreamResponse>
  /** Ends all open streams with an error event, and rejects new ones. A shutdown calls this method. */
  endStreams(): void
  /** `GET /tokens/self`: the caller's token document. */
  ownToken: RunRequest
  /** `GET /authorized`. */
  authorized: RunRequest
  /**
   * `POST /api/v1/explain`: evaluates a query for an administrator, and never commits its writes. The response
   * describes the reads of the query or, if the query runs as another caller, the access decisions.
   */
  explain: RunRequest
  /** `POST /api/v1/indexes/_size`: measures one page of the entries of an index. */
  indexSize: RunRequest
  /** `POST /api/v1/collections/_size`: measures one page of the documents of a collection. */
  collectionSize: RunRequest
  /** `POST /api/v1/collections/_position`: estimates how much of a collection precedes a document. */
  collectionPosition: RunRequest
  /** Returns the body of a response whose attempt was committed at `time`. */
  completed(request: QueryRequest, response: QueryResponse, time: Micros): string
  /**
   * Checks the store. `checks`: `read` reads, `write` and `all` commit a transaction without changes, and `node` checks
   * nothing. Rejects if the store fails. May take long, so the caller must set a time limit.
   */
  ping(checks: 'all' | 'write' | 'read' | 'node'): Promise<void>
  /** Returns undefined if the credential is rejected. */
  whoIs(authorization: string | undefined, ticket: Ticket | undefined): Promise<Principal | undefined>
  /**
   * Runs work in several steps (see {@link Ticket.inSteps}) that is not a query, such as an import. Meanwhile, a text
   * of `units` UTF-16 code units and its parsed form count as the memory of a query.
   */
  withMemory<T>(ticket: Ticket, units: number, work: () => Promise<T>): Promise<T>
  /** Deleted objects keep their numbers in the result. */
  nameOf(caller: CallerMark, database: DatabaseId): NamedCaller
  /** Returns undefined if a database of the path does not exist. */
  databasesAlong(names: readonly string[]): readonly DatabaseId[] | undefined
  /** Kinds whose rate limits a database has exhausted. Imports and exports are rejected meanwhile. */
  exhausted(database: DatabaseId): readonly RateKind[]
  /** Charges the costs of work that is not a query, such as an import. */
  charge(database: DatabaseId, costs: Costs): void
  now(): Micros
}
