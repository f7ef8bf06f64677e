// The engine's interface for the HTTP server. The bodies of requests and responses are texts: the engine parses request
// bodies and renders response bodies.

import type { Ticket } from '../base/admission/ticket.ts'
import type { RequestErrorCode } from '../base/request-errors.ts'
import type { Fault, LanguageRequest, QueryMetrics } from '../model/language.ts'
import type { NamedObject } from '../model/use-recorders.ts'
import type { Attempt } from '../storage/store/attempt.ts'
import type { Transaction } from '../storage/store/store-contract.ts'
import type { LanguageName } from '../values/code.ts'
import type { DatabaseId, Micros } from '../values/value.ts'
import type { Costs, RateKind } from './operation-limits.ts'

/** The kind of an endpoint that forbids writes. The error message for a write contains these words. */
export type ReadOnlyPlace = 'get requests' | 'stream requests'

/** A request whose headers have been validated. The request is plain data, so that another process can receive it. */
export interface QueryRequest extends LanguageRequest {
  readonly language: LanguageName
  /** The raw `authorization` header. */
  readonly authorization: string | undefined
  /** The address of the client: an IPv4 address, or the 64-bit network of an IPv6 address. */
  readonly address?: string | undefined
  readonly readOnly?: ReadOnlyPlace
  /** True: even a read-only query runs in a writing transaction, so that its reads are strictly serializable. */
  readonly linearized?: boolean
  /** The time of the last transaction that the client has seen. The snapshot must not be older than this time. */
  readonly lastSeenTxn?: Micros
  readonly timeoutMs: number
  /** The maximum number of retries after conflicts with other transactions. Undefined: the default of the protocol. */
  readonly retriesMax?: number | undefined
  /**
   * True: the client requests an indented response body. A slow-lane process indents long bodies; the HTTP server
   * indents all others.
   */
  readonly prettyBody?: boolean
  /** True: the client requests an explanation of the query. */
  readonly isExplanation?: boolean
  /**
   * Returns the commit time for which the query is evaluated. Present if another process commits the writes of the
   * query: see {@link Store.attempt}.
   */
  readonly stampTime?: () => Micros
  /** A long query that has not been decoded. If `longBody` is present, `body` is undefined. */
  readonly longBody?: LongBody | undefined
}

export type { QueryMetrics } from '../model/language.ts'

/** A long body of a request or a response. The pieces of the body are forwarded as received, without joining them. */
export class LongBody {
  readonly pieces: readonly Uint8Array[]
  /** The number of bytes. */
  readonly length: number
  constructor(pieces: readonly Uint8Array[]) {
    this.pieces = pieces
    this.length = pieces.reduce((bytes, piece) => bytes + piece.length, 0)
  }

  /** Joins the pieces, up to the first `bytes` bytes. */
  joined(bytes = this.length): Buffer {
    return Buffer.concat(this.pieces, Math.min(bytes, this.length))
  }
}

/** The location of a database: names and ids of the database and its ancestors, outermost first. Empty for the root. */
export interface DatabasePlace {
  readonly names: readonly string[]
  readonly ids: readonly DatabaseId[]
}

/**
 * Identifies a caller in the query log by values that never change. {@link Engine.nameOf} converts these values to
 * names.
 */
export interface CallerMark {
  /** `root`; `key/17/123` for the key 123 of the database 17; `token/17/123`; or `provider` for third-party tokens. */
  readonly credential: string
  /** Built-in roles by name, other roles by number: `#123`. */
  readonly roles: readonly string[]
  /**
   * The document of the login as `collection/id`, such as `1024/77`, or the subject of a third-party token. Undefined
   * if the caller has not logged in.
   */
  readonly identity: string | undefined
}

/** A caller with its current names. */
export interface NamedCaller {
  readonly kind: 'root' | 'key' | 'token' | 'provider'
  /** The number of the key or token. */
  readonly id: string | undefined
  /** The name that the key's document contains. */
  readonly name: string | undefined
  readonly roles: readonly string[]
  readonly identity: string | undefined
}

/** The databases of a path of names. */
export interface NamedDatabases {
  /** The ids of the databases, outermost first. */
  readonly ids: readonly DatabaseId[]
  /** Since this time, no database of the path has changed its name or its parent. */
  readonly since: Micros
}

/** The response to a request. */
export interface QueryResponse {
  readonly status: number
  /**
   * The body in the format of the query language. Before the commit of an attempt, the body contains placeholders for
   * the values that depend on the commit.
   */
  readonly body: string
  /** The error, for the query log. */
  readonly fault?: Fault
  /** For {@link Language.learn} in the service, if the query ran in the slow lane. */
  readonly lesson?: string | undefined
  /** A long body, used instead of `body`. */
  readonly longBody?: LongBody
  readonly txnTime: Micros
  /** Absent for status 401 and 500. */
  readonly metrics: QueryMetrics | undefined
  /** The database in which the query ran; undefined if the credential was rejected. */
  readonly database: DatabaseId | undefined
  /** The location of the database in which the query ran. */
  readonly place?: DatabasePlace | undefined
  /** The caller; undefined if the credential was rejected. */
  readonly caller?: CallerMark | undefined
  /** The schema objects that the query has found by name. */
  readonly named?: readonly NamedObject[] | undefined
  /** The request error that caused this response. Absent if the request succeeded, or if the query itself failed. */
  readonly requestError?: RequestErrorCode
  /** True: the query was evaluated in the slow lane. */
  readonly isSlow?: boolean
  /** True: the slow lane evaluated the query, and the writes of the query have been committed. */
  readonly isCommittedThere?: boolean
  /** Present if another process commits the writes of the query. The response is valid only after this commit. */
  readonly attempt?: Attempt<unknown>
  /** Evaluates the query of `attempt` again, in a transaction that holds the writer lock. */
  readonly again?: (transaction: Transaction) => { readonly body: string }
}

/** The events of one open stream, for one client. */
export interface EventStream {
  /** Decimal; unique among the streams of all processes. */
  readonly id: string
  /** True: no more events will be queued. Queued events can still be taken. */
  readonly ended: boolean
  /**
   * Removes and returns the oldest queued event as UTF-8 text with its line end; undefined if the queue is empty.
   * Several streams may return the same array, so the caller must not change the bytes.
   */
  take(): Uint8Array | undefined
  /** Sets the only listener. The stream calls the listener after events were queued or the stream ended. */
  listen(listener: () => void): void
  /** Frees all resources of the stream. The HTTP server calls this after the client has disconnected. */
  close(): void
}

/** The response to a request for a stream. If `stream` is present, the body consists of the stream's events. */
export interface StreamResponse extends QueryResponse {
  readonly stream?: EventStream
}

/** The identity and rights of a credential. */
export interface Principal {
  readonly database: DatabaseId
  readonly place: DatabasePlace
  readonly caller: CallerMark
  /** True: the caller has the built-in role `admin` in this database. */
  readonly isAdmin: boolean
  /** The built-in role; undefined for callers with user-defined roles, and for logins. */
  readonly role: string | undefined
  /** The identity of the login: a document, or the subject of a third-party token. */
  readonly identity: { readonly collection: string; readonly id: string } | string | undefined
  /** True: the credential is the root secret itself, without a scope. */
  readonly isRoot: boolean
}

/**
 * Runs requests, from the credential to the response. `ticket`: the request in the budgets of the service. Absent: no
 * other part of the service can stop the request.
 */
export interface Engine {
  query(request: QueryRequest, ticket?: Ticket): QueryResponse | Promise<QueryResponse>
  /**
   * `POST /stream`. `fields`: the URL parameter that selects the fields of events; undefined for the default fields.
   */
  openStream(
    request: QueryRequest,
    fields: string | undefined,
    ticket?: Ticket,
  ): StreamResponse | Promise<StreamResponse>
  /** Ends all open streams with an error event, and rejects new streams. For shutdown. */
  endStreams(): void
  /** `GET /tokens/self`: the token document of the caller. */
  ownToken(request: QueryRequest, ticket?: Ticket): QueryResponse | Promise<QueryResponse>
  /** `GET /authorized`. */
  authorized(request: QueryRequest, ticket?: Ticket): QueryResponse | Promise<QueryResponse>
  /**
   * `POST /api/v1/explain`: evaluates a query for an administrator. The response describes the reads of the query or,
   * if the query runs as another caller, the access decisions. The query's writes are never committed.
   */
  explain(request: QueryRequest, ticket?: Ticket): QueryResponse | Promise<QueryResponse>
  /** `POST /api/v1/indexes/_size`: measures one page of the entries of an index. */
  indexSize(request: QueryRequest, ticket?: Ticket): QueryResponse | Promise<QueryResponse>
  /** `POST /api/v1/collections/_size`: measures one page of the documents of a collection. */
  collectionSize(request: QueryRequest, ticket?: Ticket): QueryResponse | Promise<QueryResponse>
  /** Returns the body of a response whose attempt was committed at `time`. */
  completed(request: QueryRequest, response: QueryResponse, time: Micros): string
  /**
   * Checks the store: `read` reads from the store, `write` and `all` commit a transaction without changes, and `node`
   * checks nothing. Rejects if the store fails. The read or commit may take long, so the caller must set a time limit.
   */
  ping(scope: 'all' | 'write' | 'read' | 'node'): Promise<void>
  /** Returns the principal of an `authorization` header; undefined if the credential is rejected. */
  whoIs(authorization: string | undefined, ticket?: Ticket): Promise<Principal | undefined>
  /**
   * Runs work in several steps (see {@link Ticket.inSteps}) that is not a query, such as an import. Meanwhile, a text of
   * `units` UTF-16 code units and its parsed form count as the memory of a query.
   */
  withMemory<T>(ticket: Ticket, units: number, work: () => Promise<T>): Promise<T>
  /** Converts the numbers in `caller` to names. If an object was deleted, the result contains its number. */
  nameOf(caller: CallerMark, database: DatabaseId): NamedCaller
  /** Resolves a path of database names. Returns undefined if a database of the path does not exist. */
  databasesAlong(names: readonly string[]): NamedDatabases | undefined
  /**
   * Returns the kinds of operations whose rate limits a database has exhausted. Imports and exports are rejected while
   * a limit is exhausted.
   */
  exhausted(database: DatabaseId): readonly RateKind[]
  /** Charges work that is not a query, such as an import, to the rate limits of its database. */
  charge(database: DatabaseId, costs: Costs): void
  now(): Micros
}
