// What the HTTP edge asks of the engine. Bodies go in and come out as text: the engine owns parsing and rendering.

import type { RequestErrorCode } from '../base/errors.ts'
import type { Fault, LanguageRequest, QueryMetrics } from '../model/language.ts'
import type { NamedObject } from '../model/named-objects.ts'
import type { Attempt } from '../storage/store/attempt.ts'
import type { Transaction } from '../storage/store/contract.ts'
import type { LanguageName } from '../values/code.ts'
import type { DatabaseId, Micros } from '../values/value.ts'
import type { Costs, RateKind } from './rate-limits.ts'

/** Where a query came in, when that forbids writes; the words appear in the error. */
export type ReadOnlyPlace = 'get requests' | 'stream requests'

/** A request whose headers have been validated. A plain value. */
export interface QueryRequest extends LanguageRequest {
  readonly language: LanguageName
  /** The raw `authorization` header. */
  readonly authorization: string | undefined
  /** Where the request came from: an IPv4 address, or the 64-bit network of an IPv6 address. */
  readonly address?: string | undefined
  readonly readOnly?: ReadOnlyPlace
  /** Reads go through the transaction log too. */
  readonly linearized?: boolean
  /** Microseconds: the snapshot is at least this. */
  readonly lastSeenTxn?: Micros
  readonly timeoutMs: number
  /** How often a write that meets contention is tried again; the protocol's default when absent. */
  readonly retriesMax?: number | undefined
  /** A long body is laid out for people. */
  readonly prettyBody?: boolean
  /** An explanation is asked for: in the slow lane, too. */
  readonly isExplanation?: boolean
  /** For an engine that leaves committing to another: {@link Store.attempt}. */
  readonly stampTime?: () => Micros
  /** The query as it came, when it is long and not a text yet; `body` is undefined then. */
  readonly longBody?: LongBody | undefined
}

export type { QueryMetrics } from '../model/language.ts'
export type { NamedObject } from '../model/named-objects.ts'

/** A long body of a request or a response, in the pieces that it came in: it goes on piece by piece. */
export class LongBody {
  readonly pieces: readonly Uint8Array[]
  /** Bytes. */
  readonly length: number
  constructor(pieces: readonly Uint8Array[]) {
    this.pieces = pieces
    this.length = pieces.reduce((bytes, piece) => bytes + piece.length, 0)
  }

  /** In one piece; at most the first `bytes` of it. */
  joined(bytes = this.length): Buffer {
    return Buffer.concat(this.pieces, Math.min(bytes, this.length))
  }
}

/** Where a database lies: its name and number and those of the databases around it, outermost first; empty for the root. */
export interface DatabasePlace {
  readonly names: readonly string[]
  readonly ids: readonly DatabaseId[]
}

/** Who asked, by what does not change: the query log looks the names up when it is read. A plain value. */
export interface CallerMark {
  /** `root`, `key/17/123` with the number of the key's database, `token/17/123`, or `provider` for third-party tokens. */
  readonly credential: string
  /** Builtin roles by name, others by number: `#123`. */
  readonly roles: readonly string[]
  /** The document logged in as, `1024/77` by numbers, or the subject of a third-party token; undefined without either. */
  readonly identity: string | undefined
}

/** Who asked, in names as they are now. */
export interface NamedCaller {
  readonly kind: 'root' | 'key' | 'token' | 'provider'
  /** The number of the key or token. */
  readonly id: string | undefined
  /** The name that the key was given. */
  readonly name: string | undefined
  readonly roles: readonly string[]
  readonly identity: string | undefined
}

/** Databases that were found by their names. */
export interface NamedDatabases {
  /** Outermost first. */
  readonly ids: readonly DatabaseId[]
  /** Since when all of them have had these names, and lain where they do. */
  readonly since: Micros
}

/** What a client gets for a request. */
export interface QueryResponse {
  readonly status: number
  /** As its language has it; of an attempt with marks for what the commit decides. */
  readonly body: string
  /** The error, for the query log. */
  readonly fault?: Fault
  /** Instead of the body. */
  readonly longBody?: LongBody
  readonly txnTime: Micros
  /** Absent for 401 and 500. */
  readonly metrics: QueryMetrics | undefined
  /** The database in which the query ran; undefined when the credential was refused. */
  readonly database: DatabaseId | undefined
  /** Where that database lies. */
  readonly place?: DatabasePlace | undefined
  /** Who asked; undefined when the credential was refused. */
  readonly caller?: CallerMark | undefined
  /** The schema objects that the query has found by their names. */
  readonly named?: readonly NamedObject[] | undefined
  /** The request error that this response stands for, when it is not the query's own. */
  readonly requestError?: RequestErrorCode
  /** It was evaluated in the slow lane. */
  readonly isSlow?: boolean
  /** Its writes were committed there, too. */
  readonly isCommittedThere?: boolean
  /** The query writes, and this engine leaves commits to another: the response is what it will be then. */
  readonly attempt?: Attempt<unknown>
  /** Evaluates the query of the attempt once more, under the writer's lock. */
  readonly again?: (transaction: Transaction) => { readonly body: string }
}

/** The events of one open stream, for one reader. */
export interface EventStream {
  /** Decimal; unique among the streams of all processes. */
  readonly id: string
  /** Nothing is queued any more; what is queued can still be taken. */
  readonly ended: boolean
  /** The oldest queued event as text in UTF-8, with its line end, which others may share; undefined when there is none. */
  take(): Uint8Array | undefined
  /** Calls `listener`, the only one, whenever events were queued or the stream ended. */
  listen(listener: () => void): void
  /** The reader has gone: frees everything. */
  close(): void
}

/** An ordinary response, or with `stream` one whose body are the stream's events. */
export interface StreamResponse extends QueryResponse {
  readonly stream?: EventStream
}

/** Who a credential stands for. */
export interface Principal {
  readonly database: DatabaseId
  readonly place: DatabasePlace
  readonly caller: CallerMark
  /** Holds the builtin role `admin` there. */
  readonly isAdmin: boolean
  /** The builtin role; undefined for who has roles of the database, or logged in. */
  readonly role: string | undefined
  /** Who logged in: a document, or the subject of a third-party token. */
  readonly identity: { readonly collection: string; readonly id: string } | string | undefined
  /** Is the root secret itself, without any scope. */
  readonly isRoot: boolean
}

/** One request at a time, from its credential to its response. */
export interface Engine {
  query(request: QueryRequest): QueryResponse | Promise<QueryResponse>
  /** `POST /stream`. `fields` is the URL parameter that chooses what events show; absent for the default. */
  openStream(request: QueryRequest, fields: string | undefined): StreamResponse | Promise<StreamResponse>
  /** Ends all streams with an error event, and those that are opened later. For shutting down. */
  endStreams(): void
  /** `GET /tokens/self`: the caller's own token document. */
  ownToken(request: QueryRequest): QueryResponse | Promise<QueryResponse>
  /** `GET /authorized`. */
  authorized(request: QueryRequest): QueryResponse | Promise<QueryResponse>
  /**
   * `POST /api/v1/explain`: evaluates a query as another caller, for an administrator, and tells what decided about rights.
   * Nothing is written.
   */
  explain(request: QueryRequest): QueryResponse | Promise<QueryResponse>
  /** `POST /api/v1/indexes/_size`: a page of the sizes of an index, for keys that may read the schema. */
  indexSize(request: QueryRequest): QueryResponse | Promise<QueryResponse>
  /** `POST /api/v1/collections/_size`: the same of the documents of a collection. */
  collectionSize(request: QueryRequest): QueryResponse | Promise<QueryResponse>
  /** The body of a response whose attempt has been committed at `time`. */
  completed(request: QueryRequest, response: QueryResponse, time: Micros): string
  /**
   * Resolves once the store has read (`read`), has committed something of no meaning (`write`, `all`), or at once (`node`).
   * Rejects when it cannot. It may take long: how long to wait is for the caller to decide.
   */
  ping(scope: 'all' | 'write' | 'read' | 'node'): Promise<void>
  /** Who an `authorization` header stands for; undefined when it is refused. */
  whoIs(authorization: string | undefined): Promise<Principal | undefined>
  /** The names of one who asked in a database, as far as what it is called by is there. */
  nameOf(caller: CallerMark, database: DatabaseId): NamedCaller
  /** The databases along a path of names; undefined when one does not exist. */
  databasesAlong(names: readonly string[]): NamedDatabases | undefined
  /** The kinds of operations of which a database has used up what it may. Work that is no query is not to begin then. */
  exhausted(database: DatabaseId): readonly RateKind[]
  /** Counts work that is no query, such as an import, against what its database may use. */
  charge(database: DatabaseId, costs: Costs): void
  now(): Micros
}
