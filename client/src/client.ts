// The client: one service, one secret. It keeps nothing open, so there is nothing to close; what it remembers is the time of the
// newest transaction that it has seen, so that it always reads its own writes, also from another node.

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
import { EventSourceToken, Page } from './values.ts'

/** How a client is made. */
export interface ClientOptions {
  /** The address of the service, such as `http://127.0.0.1:8443`. */
  readonly url: string
  /** The secret of a key or token, with its scope if it has one: `SECRET:shop:server`. */
  readonly secret: string
  /** Milliseconds that a query may run; 30 000 when absent. The client waits 5 seconds longer for each response. */
  readonly timeoutMs?: number
  /** How often a request is repeated after contention, a rate limit or a lost connection; 3 when absent, 0 for never. */
  readonly retries?: number
  /** Tags that the query log keeps with each query; letters, digits and `_`. */
  readonly tags?: Readonly<Record<string, string>>
  /** Used in place of the global `fetch`. */
  readonly fetch?: typeof fetch
}

/** What can be said of one query. */
export interface QueryOptions {
  /** Variables of the query by name. */
  readonly arguments?: Readonly<Record<string, QueryValue>>
  /** Milliseconds that the query may run. */
  readonly timeoutMs?: number
  /** Ends the wait; the call rejects with its reason. The service may still execute the query. */
  readonly signal?: AbortSignal
  /** Added to the tags of the client. */
  readonly tags?: Readonly<Record<string, string>>
  /**
   * Says that the query does no harm when it is executed twice, as one that only reads. It is then repeated also when its
   * response was lost.
   */
  readonly isRepeatable?: boolean
  /** Whether a query that only reads is ordered with all writes. */
  readonly linearized?: boolean
  /** How often the service evaluates the query again after contention, 0 to 7. */
  readonly contentionRetries?: number
  /** Whether `info.summary` of the result says what could be quicker. */
  readonly performanceHints?: boolean
  /** A W3C trace context, which the query log keeps. */
  readonly traceparent?: string
}

/** The result of a query. */
export interface QueryResult<Data> {
  /** Asserted to be `Data` by the caller; nothing checks it. */
  readonly data: Data
  readonly info: ResponseInfo
  /** How often the request was sent. */
  readonly attempts: number
}

/** Where a feed begins and how it is read. */
export interface FeedOptions extends EventPosition {
  /** Events of one page, 1 to 16 000; 16 when absent. */
  readonly pageSize?: number
  readonly signal?: AbortSignal
}

/** How changes are followed by a feed. */
export interface FollowOptions extends FeedOptions {
  /** Milliseconds between two reads when nothing has happened; 1000 when absent. */
  readonly everyMs?: number
}

/** Where a stream begins. */
export interface StreamOptions extends EventPosition {
  readonly signal?: AbortSignal
}

/** What events can be read of: a source that was queried, its token as text, or the query that makes it. */
export type EventSourceLike<Item> = EventSourceToken<Item> | string | Query

/** A token that a login returns: a document with the secret, or the secret alone. */
type TokenResult = string | { readonly secret?: unknown }

const timeoutMsDefault = 30_000
const retriesDefault = 3
const graceMs = 5000
const followMsDefault = 1000

/** A client of one database with the rights of one secret. */
export class Client {
  readonly #options: ClientOptions
  readonly #transport: TransportOptions
  /**
   * The newest transaction that this client has seen, in microseconds since 1970; queries read no older state. Hand it to
   * another client, such as from a server to a browser, for that to see the same.
   */
  lastTxnTs = 0

  /** Throws a `TypeError` for an address that is no URL or a missing secret. */
  constructor(options: ClientOptions) {
    new URL(options.url)
    if (!options.secret) throw new TypeError('a client needs the secret of a key or token')
    this.#options = options
    this.#transport = {
      url: options.url,
      secret: options.secret,
      retries: options.retries ?? retriesDefault,
      // Browsers want it called as a function of the window.
      fetch: options.fetch ?? ((...request) => fetch(...request)),
    }
  }

  /**
   * Runs a query. `Data` is an assertion by the caller: queries are not typed. Throws a `ServiceError` of the class of its code, a
   * `NetworkError` or a `ProtocolError`; a `TypeError` for a value that cannot be sent.
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
    this.lastTxnTs = Math.max(this.lastTxnTs, body.txn_ts ?? 0)
    return { data: decodeValue(body.data as Json) as Data, info: infoOf(body), attempts }
  }

  /** The pages of a set, each read when it is asked for, all as of the time of the first. What is no set is one page. */
  async *pages<Item = unknown>(
    set: Query | Page<Item>,
    options: QueryOptions = {},
  ): AsyncGenerator<readonly Item[], void> {
    let page = set instanceof Query ? pageOf<Item>((await this.query(set, options)).data) : set
    // A set that was nested too deeply has arrived as a cursor alone.
    if (page.data.length > 0 || page.after === undefined) yield page.data
    // Later pages only read, whatever the query did.
    const reading = { ...options, isRepeatable: true }
    while (page.after !== undefined) {
      page = pageOf<Item>((await this.query(fql`Set.paginate(${page.after})`, reading)).data)
      yield page.data
    }
  }

  /** The elements of a set, page by page. */
  async *items<Item = unknown>(
    set: Query | Page<Item>,
    options: QueryOptions = {},
  ): AsyncGenerator<Item, void> {
    for await (const page of this.pages(set, options)) yield* page
  }

  /** The changes of a set up to now, page by page. */
  async *feed<Item = unknown>(
    source: EventSourceLike<Item>,
    options: FeedOptions = {},
  ): AsyncGenerator<FeedPage<Item>, void> {
    yield* readFeed<Item>(await this.#feedRequest(source, options))
  }

  /**
   * The changes of a set as they happen, without an end, by reading its feed again and again: this works in every runtime and
   * through every proxy. Leave the loop, or abort `signal`, to stop.
   */
  async *follow<Item = unknown>(
    source: EventSourceLike<Item>,
    options: FollowOptions = {},
  ): AsyncGenerator<ChangeEvent<Item>, void> {
    const request = await this.#feedRequest(source, options)
    yield* followFeed<Item>(request, options.everyMs ?? followMsDefault)
  }

  /**
   * The changes of a set as they happen, without an end, over one long response: quicker than {@link follow}, where the runtime
   * and what is between allow it. Goes on by cursor when the connection breaks.
   */
  async *stream<Item = unknown>(
    source: EventSourceLike<Item>,
    options: StreamOptions = {},
  ): AsyncGenerator<ChangeEvent<Item>, void> {
    const { signal } = options
    const token = await this.#tokenOf(source, signal)
    yield* readStream<Item>({ ...options, token, signal, transport: this.#transport })
  }

  /** A client with the same options and another secret. */
  as(secret: string): Client {
    const client = new Client({ ...this.#options, secret })
    client.lastTxnTs = this.lastTxnTs
    return client
  }

  /**
   * A client with the rights of who logs in. The query returns a token or its secret, such as a function of the database that
   * calls `Credential.byDocument(user)!.login(password)`. Keep `secret` of the result to go on later with {@link as}.
   */
  async login(query: Query, options: QueryOptions = {}): Promise<{ client: Client; secret: string }> {
    const { data } = await this.query<TokenResult | null>(query, options)
    const secret = typeof data === 'string' ? data : data?.secret
    if (typeof secret !== 'string') throw new TypeError('the query of a login returns no token and no secret')
    return { client: this.as(secret), secret }
  }

  /**
   * Deletes the token that this client has as its secret, or with `everywhere` all tokens of its document. Throws a
   * `QueryRuntimeError` when the secret is that of a key.
   */
  async logout({ everywhere = false }: { readonly everywhere?: boolean } = {}): Promise<void> {
    await this.query(
      everywhere ? fql`Token.byDocument(Query.identity()).forEach(.delete())` : fql`Query.token()!.delete()`,
    )
  }

  #timeoutMs(options: Pick<QueryOptions, 'timeoutMs'>): number {
    return options.timeoutMs ?? this.#options.timeoutMs ?? timeoutMsDefault
  }

  #headers(options: QueryOptions, timeoutMs: number): Readonly<Record<string, string>> {
    const tags = Object.entries({ ...this.#options.tags, ...options.tags })
    const { contentionRetries, linearized, performanceHints, traceparent } = options
    return {
      'x-format': 'tagged',
      ...this.#timeHeaders(timeoutMs),
      ...(tags.length > 0 && { 'x-query-tags': tags.map(pair => pair.join('=')).join(',') }),
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
    const headers = this.#timeHeaders(timeoutMs)
    const waitMs = timeoutMs + graceMs
    return { ...options, token, pageSize, signal, headers, waitMs, transport: this.#transport }
  }

  async #tokenOf<Item>(source: EventSourceLike<Item>, signal: AbortSignal | undefined): Promise<string> {
    if (typeof source === 'string') return source
    const found =
      source instanceof Query
        ? (await this.query(source, { ...(signal && { signal }), isRepeatable: true })).data
        : source
    if (found instanceof EventSourceToken) return found.token
    throw new TypeError('the query returns no event source: it has to end with .eventSource()')
  }
}

/** A page of a set, of what `paginate()` returns, or of the one value that it is. */
function pageOf<Item>(data: unknown): Page<Item> {
  if (data instanceof Page) return data
  const { data: items, after } = (data ?? {}) as { readonly data?: unknown; readonly after?: unknown }
  const isPage =
    Array.isArray(items) && Object.keys(data as object).every(name => name === 'data' || name === 'after')
  if (isPage) return new Page(items as Item[], after as string | undefined)
  return new Page([data as Item])
}
