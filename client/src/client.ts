// The client of a service, with one secret. It has no open connections, so apps need not close it. Each request
// contains the time of the newest transaction that the client has seen, so a client always reads its own writes, even
// from another node of the service.

import type { ResponseInfo } from './errors.ts'
import {
  type ChangeEvent,
  type EventPosition,
  type FeedPage,
  followFeed,
  readFeed,
  readStream,
} from './events.ts'
import { decodeValue, encodeQuery, encodeValue, type Json } from './format.ts'
import { fql, Query, type QueryValue } from './query.ts'
import { infoOf, send, type TransportOptions } from './transport.ts'
import { type ElementOf, EventSourceToken, Page } from './values.ts'

export interface ClientOptions {
  /** The address of the service, such as `http://127.0.0.1:8443`. */
  readonly url: string
  /** The secret of a key or token, optionally followed by a scope: `SECRET:shop:server`. */
  readonly secret: string
  /** Time limit of a query in milliseconds; 30 000 when absent. The client waits 5 seconds longer for each response. */
  readonly timeoutMs?: number
  /**
   * Maximum number of retries after contention or a rate limit, while the service starts, and after a failed connection
   * if the query was not sent or is repeatable; 3 when absent, 0 for no retries.
   */
  readonly retries?: number
  /** Tags that the query log stores with each query; letters, digits and `_`. */
  readonly tags?: Readonly<Record<string, string>>
  /** Enables or disables the check of the types of queries. When absent, the database decides. */
  readonly typecheck?: boolean
  /** A function in place of the global `fetch`. */
  readonly fetch?: typeof fetch
}

export interface QueryOptions {
  /** Variables of the query by name. */
  readonly arguments?: Readonly<Record<string, QueryValue>>
  /** Time limit of the query in milliseconds. */
  readonly timeoutMs?: number
  /** Cancels the call, which then rejects with the signal's reason. The service may still execute the query. */
  readonly signal?: AbortSignal
  /** Tags in addition to the tags of the client. */
  readonly tags?: Readonly<Record<string, string>>
  /**
   * Declares that the query may be executed twice, for example because it only reads. The client then also retries the
   * query after a lost response.
   */
  readonly isRepeatable?: boolean
  /** Enables or disables the check of the types of this query. When absent, the option of the client decides. */
  readonly typecheck?: boolean
  /** Makes a read-only query strictly serializable. */
  readonly linearized?: boolean
  /** Maximum number of times that the service retries the query after contention, 0 to 7. */
  readonly contentionRetries?: number
  /** Adds performance hints to `info.summary` of the result. */
  readonly performanceHints?: boolean
  /** A W3C trace context, which the query log stores. */
  readonly traceparent?: string
}

/** Result of a query, with information about its execution. */
export interface QueryResult<Data> {
  /** The caller asserts the type `Data`; the client does not check the value. */
  readonly data: Data
  readonly info: ResponseInfo
  /** Number of times that the request was sent. */
  readonly attempts: number
}

/** Start position of a feed, and options for reading it. */
export interface FeedOptions extends EventPosition {
  /** Events per page, 1 to 16 000; 16 when absent. */
  readonly pageSize?: number
  readonly signal?: AbortSignal
}

/** Options for following changes with a feed. */
export interface FollowOptions extends FeedOptions {
  /** Delay before the next read when there are no more events, in milliseconds; 1000 when absent. */
  readonly everyMs?: number
}

export interface StreamOptions extends EventPosition {
  readonly signal?: AbortSignal
}

/** An event source that a query has returned, the token of an event source, or a query that returns an event source. */
export type EventSourceLike<Item> = EventSourceToken<Item> | string | Query

/** The result of a login: a document with the secret, or the secret alone. */
type TokenResult = string | { readonly secret?: unknown }

const timeoutMsDefault = 30_000
const retriesDefault = 3
const graceMs = 5000
const followMsDefault = 1000

/** A client of a database. The secret of the client determines its rights. */
export class Client {
  readonly #options: ClientOptions
  readonly #transport: TransportOptions
  /**
   * Time of the newest transaction that this client has seen, in microseconds since 1970. Queries never read an older
   * state. To make another client read the same state, copy this value to that client. For example, a server sends the
   * value to a browser.
   */
  lastTxnTs = 0

  /** Throws a `TypeError` for an invalid URL or a missing secret. */
  constructor(options: ClientOptions) {
    new URL(options.url)
    if (!options.secret) throw new TypeError('a client needs the secret of a key or token')
    this.#options = options
    this.#transport = {
      url: options.url,
      secret: options.secret,
      retries: options.retries ?? retriesDefault,
      // Browsers reject a call of `fetch` as a method of another object.
      fetch: options.fetch ?? ((...request) => fetch(...request)),
    }
  }

  /**
   * Runs a query. The caller asserts the type `Data`; the client does not check the type. Throws the subclass of
   * `ServiceError` for the code of the error, a `NetworkError`, a `ProtocolError` or the reason of `signal`. Throws a
   * `TypeError` for a value that cannot be sent.
   */
  async query<Data = unknown>(query: Query, options: QueryOptions = {}): Promise<QueryResult<Data>> {
    const timeoutMs = this.#timeoutMs(options)
    const { arguments: named } = options
    const variables: { [name: string]: Json } = {}
    for (const [name, value] of Object.entries(named ?? {})) variables[name] = encodeValue(value)
    const sent = {
      path: 'query/1',
      body: { query: encodeQuery(query), ...(named && { arguments: variables }) },
      headers: this.#headers(options, timeoutMs),
      signal: options.signal,
      waitMs: timeoutMs + graceMs,
      isRepeatable: options.isRepeatable ?? false,
    }
    const { body, attempts } = await send(sent, this.#transport)
    this.#saw(body.txn_ts ?? 0)
    return { data: decodeValue(body.data as Json) as Data, info: infoOf(body), attempts }
  }

  /**
   * The pages of a set, fetched on demand. The elements of all pages are those of the set at the time of the first page.
   * Documents on later pages have their current fields; a document that was deleted meanwhile is a `NullDocument`. A
   * value that is not a set is returned as a single page.
   */
  async *pages<Item = unknown>(
    set: Query | Page<Item>,
    options: QueryOptions = {},
  ): AsyncGenerator<Page<ElementOf<Item>>, void> {
    let page = pageOf<ElementOf<Item>>(set instanceof Query ? (await this.query(set, options)).data : set)
    // A deeply nested set arrives as a cursor without data. The loop reads its first page.
    if (page.data.length > 0 || page.after === undefined) yield page
    // The requests for later pages only read, even if the query wrote.
    const reading = { ...options, isRepeatable: true }
    while (page.after !== undefined) {
      page = pageOf<ElementOf<Item>>((await this.query(fql`Set.paginate(${page.after})`, reading)).data)
      yield page
    }
  }

  /** The elements of a set, read page by page as by {@link pages}. */
  async *items<Item = unknown>(
    set: Query | Page<Item>,
    options: QueryOptions = {},
  ): AsyncGenerator<ElementOf<Item>, void> {
    for await (const { data } of this.pages(set, options)) yield* data
  }

  /** The changes of a set up to now, page by page. */
  async *feed<Item = unknown>(
    source: EventSourceLike<Item>,
    options: FeedOptions = {},
  ): AsyncGenerator<FeedPage<Item>, void> {
    yield* readFeed<Item>(await this.#feedRequest(source, options))
  }

  /**
   * The changes of a set as they happen, without an end. This method polls the feed. Polling works in every runtime and
   * through every proxy. Leave the loop or abort `signal` to stop.
   */
  async *follow<Item = unknown>(
    source: EventSourceLike<Item>,
    options: FollowOptions = {},
  ): AsyncGenerator<ChangeEvent<Item>, void> {
    const request = await this.#feedRequest(source, options)
    yield* followFeed<Item>(request, options.everyMs ?? followMsDefault)
  }

  /**
   * The changes of a set as they happen, without an end, in one long response. This is faster than {@link follow}, if
   * the runtime and all proxies forward data immediately. After a lost connection, the stream continues at the last
   * cursor.
   */
  async *stream<Item = unknown>(
    source: EventSourceLike<Item>,
    options: StreamOptions = {},
  ): AsyncGenerator<ChangeEvent<Item>, void> {
    const { signal } = options
    const token = await this.#tokenOf(source, signal)
    yield* readStream<Item>({ ...options, token, signal, ...this.#eventParameters() })
  }

  /** A client with the same options and another secret. */
  as(secret: string): Client {
    const client = new Client({ ...this.#options, secret })
    client.lastTxnTs = this.lastTxnTs
    return client
  }

  /**
   * Logs in with a query that returns a token or the secret of a token. For example, the query calls a user-defined
   * function that returns `Credential.byDocument(user)!.login(password)`. The returned client has the rights of the
   * token's document. Store the returned `secret` to continue later with {@link as}.
   */
  async login(query: Query, options: QueryOptions = {}): Promise<{ client: Client; secret: string }> {
    const { data } = await this.query<TokenResult | null>(query, options)
    const secret = typeof data === 'string' ? data : data?.secret
    if (typeof secret !== 'string')
      throw new TypeError('the query of a login returns neither a token nor a secret')
    return { client: this.as(secret), secret }
  }

  /**
   * Deletes this client's token. With `everywhere`, deletes all tokens of the token's document. Throws a
   * `QueryRuntimeError` if the client's secret belongs to a key.
   */
  async logout({ everywhere = false }: { readonly everywhere?: boolean } = {}): Promise<void> {
    const ending = everywhere
      ? fql`Token.byDocument(Query.identity()).forEach(.delete())`
      : fql`Query.token()!.delete()`
    await this.query(ending, { typecheck: false })
  }

  /**
   * Pushes schema files, without the command line, for example in tests. `files` has the text of each file by its name,
   * which ends in `.fsl`. These files replace all files of the database: what is in no file is deleted, and so are the
   * documents of such a collection. Resolves with the version of the schema. The secret needs the role `admin`. Throws
   * an `InvalidRequestError` with the positions of the errors in the files.
   */
  async pushSchema(
    files: Readonly<Record<string, string>>,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<number> {
    const form = new FormData()
    for (const [name, text] of Object.entries(files)) form.append(name, new Blob([text]), name)
    const sent = {
      path: 'schema/1/update?force=true',
      body: form,
      headers: {},
      signal,
      waitMs: this.#timeoutMs({}) + graceMs,
      isRepeatable: true,
    }
    const { version = 0 } = (await send(sent, this.#transport)).body
    // The version is the time of the schema change, so later queries of this client see the new schema.
    this.#saw(version)
    return version
  }

  #timeoutMs(options: Pick<QueryOptions, 'timeoutMs'>): number {
    return options.timeoutMs ?? this.#options.timeoutMs ?? timeoutMsDefault
  }

  #headers(options: QueryOptions, timeoutMs: number): Readonly<Record<string, string>> {
    const tags = Object.entries({ ...this.#options.tags, ...options.tags })
    const { contentionRetries, linearized, performanceHints, traceparent } = options
    const typecheck = options.typecheck ?? this.#options.typecheck
    return {
      'x-format': 'tagged',
      ...this.#timeHeaders(timeoutMs),
      ...(tags.length > 0 && { 'x-query-tags': tags.map(pair => pair.join('=')).join(',') }),
      ...(typecheck !== undefined && { 'x-typecheck': String(typecheck) }),
      ...(linearized !== undefined && { 'x-linearized': String(linearized) }),
      ...(performanceHints !== undefined && { 'x-performance-hints': String(performanceHints) }),
      ...(contentionRetries !== undefined && { 'x-max-contention-retries': String(contentionRetries) }),
      ...(traceparent !== undefined && { traceparent }),
    }
  }

  #timeHeaders(timeoutMs: number): Readonly<Record<string, string>> {
    const timeout = { 'x-query-timeout-ms': String(timeoutMs) }
    return this.lastTxnTs > 0 ? { ...timeout, 'x-last-txn-ts': String(this.lastTxnTs) } : timeout
  }

  async #feedRequest<Item>(source: EventSourceLike<Item>, options: FeedOptions) {
    const { pageSize, signal } = options
    const token = await this.#tokenOf(source, signal)
    const timeoutMs = this.#timeoutMs({})
    const headers = () => this.#timeHeaders(timeoutMs)
    const waitMs = timeoutMs + graceMs
    return { ...options, token, pageSize, signal, headers, waitMs, ...this.#eventParameters() }
  }

  #eventParameters() {
    return { transport: this.#transport, onTime: (txnTs: number) => this.#saw(txnTs) }
  }

  #saw(txnTs: number): void {
    this.lastTxnTs = Math.max(this.lastTxnTs, txnTs)
  }

  async #tokenOf<Item>(source: EventSourceLike<Item>, signal: AbortSignal | undefined): Promise<string> {
    if (typeof source === 'string') return source
    const found =
      source instanceof Query
        ? (await this.query(source, { ...(signal && { signal }), isRepeatable: true })).data
        : source
    if (found instanceof EventSourceToken) return found.token
    throw new TypeError('the query does not return an event source: it must end with .eventSource()')
  }
}

/**
 * Converts the result of a query to a page. The result may be a page of a set, the result of `paginate()`, or a single
 * value.
 */
function pageOf<Item>(data: unknown): Page<Item> {
  if (data instanceof Page) return data
  const { data: items, after } = (data ?? {}) as { readonly data?: unknown; readonly after?: unknown }
  const isPage =
    Array.isArray(items) && Object.keys(data as object).every(name => name === 'data' || name === 'after')
  if (isPage) return new Page(items as Item[], after as string | undefined)
  return new Page([data as Item])
}
