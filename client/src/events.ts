// Reads the changes of a set as events. A feed is read page by page and works wherever `fetch` works. A stream delivers
// events as they happen, and needs response bodies that arrive in pieces. After a reconnection, both continue at a
// cursor, so that no event is lost or repeated.

import {
  AuthenticationError,
  EventError,
  errorOf,
  NetworkError,
  ProtocolError,
  RateLimitError,
  type ServiceError,
  type Stats,
  type WireError,
} from './errors.ts'
import { decodeValue, type Json } from './format.ts'
import {
  delayMs,
  errorOfResponse,
  infoOf,
  open,
  pause,
  type Request,
  type ResponseBody,
  send,
  statsOf,
  type TransportOptions,
  type WireEvent,
} from './transport.ts'

/** A change of an element of the set that the event source follows. */
export interface ChangeEvent<Item> {
  readonly type: 'add' | 'update' | 'remove'
  /** The element after the change; for `remove`, the element before its removal. */
  readonly data: Item
  /** Commit time in microseconds since 1970. */
  readonly txnTs: number
  /** A feed or stream with this cursor continues after this event. */
  readonly cursor: string
  readonly stats: Stats
}

/** A page of a feed, with the cursor of the next page. */
export interface FeedPage<Item> {
  readonly events: readonly ChangeEvent<Item>[]
  readonly cursor: string
  /** True if the feed already has more events. */
  readonly hasNext: boolean
  readonly stats: Stats
}

/** Without `cursor` and `startTs`, events start at the time of the query that returned the event source. */
export interface EventPosition {
  /** Start after an event or a page. */
  readonly cursor?: string | undefined
  /** Start after a transaction, such as the `txnTs` of a query, in microseconds since 1970. */
  readonly startTs?: number
}

interface EventRequest extends EventPosition {
  readonly token: string
  readonly signal: AbortSignal | undefined
  readonly transport: TransportOptions
  /** Called with the time of each event, in microseconds since 1970. */
  readonly onTime: (txnTs: number) => void
}

interface FeedRequest extends EventRequest {
  readonly pageSize: number | undefined
  readonly headers: () => Readonly<Record<string, string>>
  readonly waitMs: number
}

/**
 * Codes of the errors with which the service ends the stream of a slow client. The client can continue at the last
 * cursor without losing events.
 */
const slowClientCodes = ['stream_replay_volume_exceeded', 'stream_overflow']

/**
 * Reads the existing pages of a feed. If a page ends with an error event, yields the events before the error, and then
 * throws the error.
 */
export async function* readFeed<Item>(request: FeedRequest): AsyncGenerator<FeedPage<Item>, void> {
  let { cursor } = request
  for (let hasNext = true; hasNext; ) {
    const { body } = await send(feedRequest(request, cursor), request.transport)
    const events = body.events ?? []
    for (const { txn_ts } of events) request.onTime(txn_ts ?? 0)
    // An error is always the last event of its page.
    const errorEvent = events.find(({ type }) => type === 'error')
    cursor = body.cursor as string
    hasNext = body.has_next ?? false
    const read = events.filter(event => event !== errorEvent).map(event => changeOf<Item>(event))
    yield { events: read, cursor, hasNext, stats: statsOf(body.stats) }
    if (errorEvent) throw errorOfEvent(errorEvent, cursor)
  }
}

function feedRequest(request: FeedRequest, cursor: string | undefined): Request {
  const { headers, pageSize, signal, waitMs } = request
  const body = { ...startOf(request, cursor), ...(pageSize !== undefined && { page_size: pageSize }) }
  return { path: 'feed/1', body, headers: headers(), signal, waitMs, isRepeatable: true }
}

function startOf(
  { token, startTs }: EventRequest,
  cursor: string | undefined,
): { readonly [key: string]: Json } {
  if (cursor !== undefined) return { token, cursor }
  return startTs === undefined ? { token } : { token, start_ts: startTs }
}

/** Yields events as they happen, without an end, by polling the feed. */
export async function* followFeed<Item>(
  request: FeedRequest,
  everyMs: number,
): AsyncGenerator<ChangeEvent<Item>, void> {
  const latest = { cursor: request.cursor }
  for (let failures = 0; ; ) {
    try {
      for await (const page of readFeed<Item>({ ...request, ...latest })) {
        yield* page.events
        latest.cursor = page.cursor
        failures = 0
      }
    } catch (cause) {
      // After the first page, retries are not limited, so a restart of the service does not end the loop. The first page
      // has the retry limit of a query.
      if (latest.cursor === request.cursor || !isTransient(cause)) throw cause
      failures += 1
    }
    await pause(everyMs + delayMs(failures), request.signal)
  }
}

/**
 * Yields events as they happen, without an end, from one long response. Reconnects when the response ends or the service
 * restarts.
 */
export async function* readStream<Item>(request: EventRequest): AsyncGenerator<ChangeEvent<Item>, void> {
  const { signal, transport } = request
  let { cursor } = request
  let hasBegun = false
  for (let failures = 0; ; failures++) {
    try {
      for await (const event of eventsOfResponse(request, cursor)) {
        if (event.type === 'error') throw errorOfEvent(event, cursor)
        request.onTime(event.txn_ts ?? 0)
        // Status events have cursors, too. If the source has no other events, a reconnection continues at the last one.
        cursor = event.cursor
        hasBegun = true
        failures = 0
        if (event.type !== 'status') yield changeOf<Item>(event)
      }
      if (!hasBegun) throw new NetworkError('the stream ended before its first event')
    } catch (cause) {
      const isTooSlow = cause instanceof EventError && slowClientCodes.includes(cause.code)
      // A stream that has received an event survives a restart of the service: its retries are not limited. Other
      // streams have the retry limit of a query.
      const mayGoOn = hasBegun || failures < transport.retries
      if (!(isTooSlow || (mayGoOn && isTransient(cause)))) throw cause
    }
    await pause(delayMs(failures), signal)
  }
}

/** Transient: a lost connection, a rate limit, a service that is starting. */
function isTransient(cause: unknown): boolean {
  if (cause instanceof ProtocolError) return cause.status === 503
  return cause instanceof NetworkError || cause instanceof RateLimitError
}

async function* eventsOfResponse(
  request: EventRequest,
  cursor: string | undefined,
): AsyncGenerator<WireEvent, void> {
  const { signal, transport } = request
  const body = startOf(request, cursor)
  const opened = { path: 'stream/1', body, headers: {}, signal, waitMs: undefined, isRepeatable: true }
  const response = await open(opened, transport)
  if (!response.ok) throw errorOfResponse(response, await jsonOf(response))
  if (!response.body)
    throw new ProtocolError('this runtime cannot read responses in pieces: use a feed', response.status)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const lines = (text + value).split('\n')
      text = lines.pop() as string
      for (const line of lines) if (line.trim() !== '') yield eventOf(line, response)
    }
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    if (cause instanceof ProtocolError) throw cause
    throw new NetworkError(`the stream was interrupted: ${(cause as Error).message}`, { cause })
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function eventOf(line: string, { status, url }: Response): WireEvent {
  try {
    return JSON.parse(line) as WireEvent
  } catch (cause) {
    throw new ProtocolError(`${url} sent a line that is not an event`, status, cause)
  }
}

async function jsonOf(response: Response): Promise<ResponseBody> {
  return response.json().then(
    json => json as ResponseBody,
    () => ({}),
  )
}

function changeOf<Item>(event: WireEvent): ChangeEvent<Item> {
  return {
    type: event.type as ChangeEvent<Item>['type'],
    // The caller asserts the type of the elements.
    data: decodeValue(event.data as Json) as Item,
    txnTs: event.txn_ts as number,
    cursor: event.cursor as string,
    stats: statsOf(event.stats),
  }
}

/** Converts an error event: the query failed for a document, the caller has lost its rights, or the client is too slow. */
function errorOfEvent(
  { error, stats }: WireEvent,
  cursor: string | undefined,
): EventError | AuthenticationError {
  const cause: ServiceError = errorOf(
    error as WireError,
    undefined,
    infoOf(stats === undefined ? {} : { stats }),
  )
  return cause instanceof AuthenticationError ? cause : new EventError(cause, cursor)
}
