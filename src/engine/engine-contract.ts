// The interface of the engine for HTTP. Bodies are texts in both directions: the engine parses and renders them.

import type { RequestErrorCode } from '../base/request-errors.ts'
import type { Fault, LanguageRequest, QueryMetrics } from '../model/language.ts'
import type { NamedObject } from '../model/use-recorders.ts'
import type { Attempt } from '../storage/store/attempt.ts'
import type { Transaction } from '../storage/store/store-contract.ts'
import type { LanguageName } from '../values/code.ts'
import type { DatabaseId, Micros } from '../values/value.ts'
import type { Costs, RateKind } from './operation-limits.ts'

/** The kind of an endpoint that forbids writes. The error message contains these words. */
export type ReadOnlyPlace = 'get requests' | 'stream requests'

/** A request whose headers have been validated. A plain value, which can be sent to another process. */
export interface QueryRequest extends LanguageRequest {
  readonly language: LanguageName
  /** The raw `authorization` header. */
  readonly authorization: string | undefined
  /** The address of the client: an IPv4 address, or the 64-bit network of an IPv6 address. */
  readonly address?: string | undefined
  readonly readOnly?: ReadOnlyPlace
  /** True: a read-only query also runs in a writing transaction, so its reads are strictly serializable. */
  readonly linearized?: boolean
  /** The last seen time of the client: the snapshot must not be older than this time. */
  readonly lastSeenTxn?: Micros
  readonly timeoutMs: number
  /** The number of retries after conflicts with other transactions. Undefined: the default of the protocol. */
  readonly retriesMax?: number | undefined
  /** True: a long response body is indented. */
  readonly prettyBody?: boolean
  /** The request is for an explanation of a query. Also set on requests in the slow lane. */
  readonly isExplanation?: boolean
  /** Present when another process commits the attempt: see {@link Store.attempt}. */
  readonly stampTime?: () => Micros
  /** The query as received, if it is long and not decoded yet. `body` is undefined then. */
  readonly longBody?: LongBody | undefined
}

export type { QueryMetrics } from '../model/language.ts'
export type { NamedObject } from '../model/use-recorders.ts'

/**
 * A long body of a request or a response, in the pieces in which it was received. The pieces are passed on one by one.
 */
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
 * Identifies the caller by values that never change. The names are looked up when the query log is read. A plain value.
 */
export interface CallerMark {
  /**
   * `root`, `key/17/123` with the number of the key's database, `token/17/123`, or `provider` for third-party tokens.
   */
  readonly credential: string
  /** Built-in roles by name, other roles by number: `#123`. */
  readonly roles: readonly string[]
  /**
   * The document of the login, `1024/77` by numbers, or the subject of a third-party token. Undefined without a login.
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

/** Databases found by their names. */
export interface NamedDatabases {
  /** Outermost first. */
  readonly ids: readonly DatabaseId[]
  /** Since this time, all of these databases have had their current names and parents. */
  readonly since: Micros
}

/** The response to a request. */
export interface QueryResponse {
  readonly status: number
  /** The body in the format of the query language. In an attempt, marks replace values that depend on the commit. */
  readonly body: string
  /** The error, for the query log. */
  readonly fault?: Fault
  /** Replaces `body` if it is long. */
  readonly longBody?: LongBody
  readonly txnTime: Micros
  /** Absent for status 401 and 500. */
  readonly metrics: QueryMetrics | undefined
  /** The database in which the query ran; undefined if the credential was rejected. */
  readonly database: DatabaseId | undefined
  /** The location of that database. */
  readonly place?: DatabasePlace | undefined
  /** The caller; undefined if the credential was rejected. */
  readonly caller?: CallerMark | undefined
  /** The schema objects that the query has found by name. */
  readonly named?: readonly NamedObject[] | undefined
  /** The request error that caused this response, unless the query itself failed. */
  readonly requestError?: RequestErrorCode
  /** True: the query was evaluated in the slow lane. */
  readonly isSlow?: boolean
  /** True: the slow lane has evaluated the query, and its writes have been committed. */
  readonly isCommittedThere?: boolean
  /** The attempt of a writing query that another process commits. The response is valid after the commit. */
  readonly attempt?: Attempt<unknown>
  /** Evaluates the query of the attempt again, under the writer lock. */
  readonly again?: (transaction: Transaction) => { readonly body: string }
}

/** The events of one open stream, for one reader. */
export interface EventStream {
  /** Decimal; unique among the streams of all processes. */
  readonly id: string
  /** True: no more events will be queued. Queued events can still be taken. */
  readonly ended: boolean
  /**
   * Removes and returns the oldest queued event as UTF-8 text with its line end; undefined if the queue is empty.
   * Streams may share the bytes.
   */
  take(): Uint8Array | undefined
  /** Sets the only listener. It is called after events were queued or the stream ended. */
  listen(listener: () => void): void
  /** Frees all resources after the reader has disconnected. */
  close(): void
}

/** A normal response or, if `stream` is present, a response whose body consists of the stream's events. */
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
  /** The built-in role; undefined for callers with roles of the database, and for logins. */
  readonly role: string | undefined
  /** The identity of the login: a document, or the subject of a third-party token. */
  readonly identity: { readonly collection: string; readonly id: string } | string | undefined
  /** True: the credential is the root secret itself, without a scope. */
  readonly isRoot: boolean
}

/** Runs requests, from the credential to the response. */
export interface Engine {
  query(request: QueryRequest): QueryResponse | Promise<QueryResponse>
  /** `POST /stream`. `fields` is the URL parameter that selects the fields of events; undefined for the default. */
  openStream(request: QueryRequest, fields: string | undefined): StreamResponse | Promise<StreamResponse>
  /** Ends all streams with an error event, including streams that are opened later. For shutdown. */
  endStreams(): void
  /** `GET /tokens/self`: the caller's own token document. */
  ownToken(request: QueryRequest): QueryResponse | Promise<QueryResponse>
  /** `GET /authorized`. */
  authorized(request: QueryRequest): QueryResponse | Promise<QueryResponse>
  /**
   * `POST /api/v1/explain`: evaluates a query as another caller, for an administrator, and describes the access
   * decisions. The query's writes are never committed.
   */
  explain(request: QueryRequest): QueryResponse | Promise<QueryResponse>
  /** `POST /api/v1/indexes/_size`: a page of the sizes of an index, for keys that may read the schema. */
  indexSize(request: QueryRequest): QueryResponse | Promise<QueryResponse>
  /**
   * `POST /api/v1/collections/_size`: a page of the sizes of a collection's documents, for keys that may read the
   * schema.
   */
  collectionSize(request: QueryRequest): QueryResponse | Promise<QueryResponse>
  /** Returns the body of a response whose attempt was committed at `time`. */
  completed(request: QueryRequest, response: QueryResponse, time: Micros): string
  /**
   * Resolves after a read of the store (`read`), after a commit without effect (`write`, `all`), or at once (`node`).
   * Rejects if the store fails. The read or commit may take long, so the caller sets a time limit.
   */
  ping(scope: 'all' | 'write' | 'read' | 'node'): Promise<void>
  /** Returns the principal of an `authorization` header; undefined if the credential is rejected. */
  whoIs(authorization: string | undefined): Promise<Principal | undefined>
  /** Returns the names of a caller in a database, as far as they still exist. */
  nameOf(caller: CallerMark, database: DatabaseId): NamedCaller
  /** Returns the databases along a path of names; undefined if one of them does not exist. */
  databasesAlong(names: readonly string[]): NamedDatabases | undefined
  /**
   * Returns the kinds of operations whose rate limit a database has exhausted. While there are any, only queries may
   * begin in the database.
   */
  exhausted(database: DatabaseId): readonly RateKind[]
  /** Charges work that is not a query, such as an import, to the rate limits of its database. */
  charge(database: DatabaseId, costs: Costs): void
  now(): Micros
}
