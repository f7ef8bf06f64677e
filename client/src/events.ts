// Changes of a set: events read page by page from a feed, which works wherever `fetch` does, or as they happen from a stream, which
// needs response bodies that arrive in pieces. Both go on by cursor, so no event is lost or repeated over a reconnection.

import {
  EventError,
  errorOf,
  NetworkError,
  ProtocolError,
  RateLimitError,
  type Stats,
  type WireError,
} from './errors.ts'
import { decodeValue, type Json } from './format.ts'
import {
  delayMs,
  failureOf,
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

/** A change of an element of the set. */
export interface ChangeEvent<Item> {
  readonly type: 'add' | 'update' | 'remove'
  /** The element after the change; for `remove` as it was last. */
  readonly data: Item
  /** When it was committed, in microseconds since 1970. */
  readonly txnTs: number
  /** Where a feed or stream goes on behind this event. */
  readonly cursor: string
  readonly stats: Stats
}

/** Some events of a feed, and where it goes on. */
export interface FeedPage<Item> {
  readonly events: readonly ChangeEvent<Item>[]
  readonly cursor: string
  /** Whether more events have already happened. */
  readonly hasNext: boolean
  readonly stats: Stats
}

/** Where events begin. Without both: where the query ran that made the source. */
export interface EventPosition {
  /** Behind an event or a page. */
  readonly cursor?: string
  /** Behind a transaction, such as the `txnTs` of a query, in microseconds since 1970. */
  readonly startTs?: number
}

/** What is needed to read events. */
interface EventRequest extends EventPosition {
  readonly token: string
  readonly signal: AbortSignal | undefined
  readonly transport: TransportOptions
}

/** What feeds need besides. */
interface FeedRequest extends EventRequest {
  readonly pageSize: number | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly waitMs: number
}

/** Errors of streams that only say that the client was behind: reading on from the last cursor loses nothing. */
const behindCodes = ['stream_replay_volume_exceeded', 'stream_overflow']

/** The pages of a feed up to now. Throws an {@link EventError} behind the events before it. */
export async function* readFeed<Item>(request: FeedRequest): AsyncGenerator<FeedPage<Item>, void> {
  let { cursor } = request
  for (let hasNext = true; hasNext; ) {
    const { body } = await send(feedRequest(request, cursor), request.transport)
    const events = body.events ?? []
    // An error is the last event of its page.
    const failed = events.find(({ type }) => type === 'error')
    cursor = body.cursor as string
    hasNext = body.has_next ?? false
    const read = events.filter(event => event !== failed).map(event => changeOf<Item>(event))
    yield { events: read, cursor, hasNext, stats: statsOf(body.stats) }
    if (failed) throw eventErrorOf(failed, cursor)
  }
}

function feedRequest(request: FeedRequest, cursor: string | undefined): Request {
  const { headers, pageSize, signal, waitMs } = request
  const body = { ...positionOf(request, cursor), ...(pageSize !== undefined && { page_size: pageSize }) }
  return { path: 'feed/1', body, headers, signal, waitMs, isRepeatable: true }
}

function positionOf(
  { token, startTs }: EventRequest,
  cursor: string | undefined,
): { readonly [key: string]: Json } {
  if (cursor !== undefined) return { token, cursor }
  return startTs === undefined ? { token } : { token, start_ts: startTs }
}

/** Events as they happen, without an end, by reading the feed again and again. */
export async function* followFeed<Item>(
  request: FeedRequest,
  everyMs: number,
): AsyncGenerator<ChangeEvent<Item>, void> {
  const place = { cursor: request.cursor }
  for (let failures = 0; ; ) {
    try {
      for await (const page of readFeed<Item>({ ...request, ...place } as FeedRequest)) {
        yield* page.events
        place.cursor = page.cursor
        failures = 0
      }
    } catch (cause) {
      if (!(place.cursor !== request.cursor && isPassing(cause))) throw cause
      failures += 1
    }
    await pause(everyMs + delayMs(failures), request.signal)
  }
}

/** Events as they happen, without an end, over one long response; connects again when it breaks or the service restarts. */
export async function* readStream<Item>(request: EventRequest): AsyncGenerator<ChangeEvent<Item>, void> {
  const { signal, transport } = request
  let { cursor } = request
  let hasBegun = false
  for (let failures = 0; ; failures++) {
    try {
      for await (const event of eventsOfResponse(request, cursor)) {
        if (event.type === 'error') throw eventErrorOf(event, cursor)
        // Also of status events, so that a source without events is not read from its beginning again.
        cursor = event.cursor
        hasBegun = true
        failures = 0
        if (event.type !== 'status') yield changeOf<Item>(event)
      }
    } catch (cause) {
      const isBehind = cause instanceof EventError && behindCodes.includes(cause.code)
      // One that has begun outlives a restart of the service; one that cannot begin fails as a query does.
      const mayGoOn = hasBegun || failures < transport.retries
      if (!(isBehind || (mayGoOn && isPassing(cause)))) throw cause
    }
    await pause(delayMs(failures), signal)
  }
}

/** Whether a failure is that of the moment: the connection, a rate limit, a service that is starting. */
function isPassing(cause: unknown): boolean {
  if (cause instanceof ProtocolError) return cause.status === 503
  return cause instanceof NetworkError || cause instanceof RateLimitError
}

async function* eventsOfResponse(
  request: EventRequest,
  cursor: string | undefined,
): AsyncGenerator<WireEvent, void> {
  const { signal, transport } = request
  const body = positionOf(request, cursor)
  const opened = { path: 'stream/1', body, headers: {}, signal, waitMs: undefined, isRepeatable: true }
  const response = await open(opened, transport)
  if (!response.ok) throw failureOf(response, await jsonOf(response))
  if (!response.body)
    throw new ProtocolError('this runtime does not read responses in pieces: use a feed', response.status)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const lines = (text + value).split('\n')
      text = lines.pop() as string
      for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as WireEvent
    }
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    throw new NetworkError(`the stream broke off: ${(cause as Error).message}`, { cause })
  } finally {
    await reader.cancel().catch(() => {})
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
    // The caller says what the elements are.
    data: decodeValue(event.data as Json) as Item,
    txnTs: event.txn_ts as number,
    cursor: event.cursor as string,
    stats: statsOf(event.stats),
  }
}

function eventErrorOf({ error, stats }: WireEvent, cursor: string | undefined): EventError {
  return new EventError(
    errorOf(error as WireError, undefined, infoOf(stats === undefined ? {} : { stats })),
    cursor,
  )
}
