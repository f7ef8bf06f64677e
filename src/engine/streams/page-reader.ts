// Reads the events of paged streams page by page, each page with a request of its own, which may wait or move to
// another process without delaying other work. Streams with the same events share a reader. The next page begins at the
// end of the previous one, so no event is lost or sent twice.

import type { Clock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import { epoch } from '../../base/micros.ts'
import type { Cancel, Timers } from '../../base/timers.ts'
import type { PagedOrder, StreamEnd, StreamPage, StreamPlace } from '../../model/streaming.ts'
import type { QueryResponse } from '../engine-contract.ts'
import type { StreamOpening } from '../engine-options.ts'
import { type OpenStream, type Reader, rightsLost, type Subject, streamEnds } from './open-stream.ts'

export const pageReaderLimits = {
  /** Maximum number of streams to which events are sent in one turn of the event loop; own limit. */
  streamsPerTurn: 64,
  /** Bytes of events after which sending continues in the next turn of the event loop; own limit. */
  streamBytesPerTurn: 4_194_304,
  /** Maximum number of past events that a new stream of version 10 can get. */
  streamReplayMax: 128,
  /** Maximum number of events in one page for a stream that has caught up; own limit. */
  streamPageEvents: 1024,
  /** Milliseconds without events after which a stream of version 10 sends its place in the events. */
  streamStatusMs: 300_000,
  /** Milliseconds between a failed read of a page and the next attempt, for streams of version 10; own limit. */
  streamRetryMs: 1000,
  /**
   * Maximum number of attempts to read a page again after a failure, for streams of version 10; own limit. Attempts
   * after an exhausted rate limit do not count.
   */
  streamRetriesMax: 5,
} as const

type NextPage = StreamOpening['nextPage']

interface ReaderHost {
  readonly clock: Pick<Clock, 'elapsedMs'>
  readonly timers: Pick<Timers, 'after'>
  /** Calls {@link PageReader.step} soon. */
  readonly enqueue: (reader: PageReader) => void
  /**
   * Called when a reader has read all events up to now. Its streams move to the shared reader with the same key; if
   * there is none, `reader` becomes the shared reader. Returns false if the shared reader has already sent events that
   * these streams lack.
   */
  readonly moveToShared: (reader: PageReader) => boolean
  readonly onFailure: (error: unknown) => void
}

/**
 * How the streams end after a page: with an additional event that states the reason, or (`over`) with the last event of
 * the page.
 */
type Ending = StreamEnd | 'over'

function isAfter(left: StreamPlace, right: StreamPlace): boolean {
  return left.time > right.time || (left.time === right.time && left.ordinal > right.ordinal)
}

class PageReader implements Reader {
  readonly key: string
  readonly #order: PagedOrder
  readonly #host: ReaderHost
  /** Each stream with a function that reads a page with the rights of its caller. */
  readonly #streams = new Map<OpenStream, NextPage>()
  /** Streams that begin after `#place`, with their places. Each gets only the events after its place. */
  readonly #ahead = new Map<OpenStream, StreamPlace>()
  /** End of the last page, where the next page begins. */
  #place: StreamPlace
  /** No events are between this place and `#place`. */
  #quietSince: StreamPlace
  /** Number of past events that were read while catching up; undefined after the streams have caught up. */
  #replayed: number | undefined = 0
  /** A page must be read, because changes may have been committed since the last page was requested. */
  #isDue = true
  #isReading = false
  /** Sends the current page, to some streams in each turn of the event loop. */
  #sending: Generator<number, void, void> | undefined
  #failures = 0
  /** When events were last sent, or else when the reader was created; in milliseconds of `clock.elapsedMs`. */
  #sentMs: number
  /** No event was sent for `streamStatusMs`, so a status event follows if the next page is empty. */
  #wantsStatus = false
  /** Costs of the pages since the last event was sent. */
  #costs: readonly number[] = []
  #cancelStatus: Cancel | undefined
  #cancelRetry: Cancel | undefined

  /** `key`: readers with the same key read the same events. */
  constructor(key: string, order: PagedOrder, host: ReaderHost) {
    this.key = key
    this.#order = order
    this.#host = host
    this.#place = order.place
    this.#quietSince = order.place
    this.#sentMs = host.clock.elapsedMs()
    this.#awaitStatus(pageReaderLimits.streamStatusMs)
  }

  get isEmpty(): boolean {
    return this.#streams.size === 0
  }

  get place(): StreamPlace {
    return this.#place
  }

  /** True if a stream that begins at `place` can use this reader without missing an event. */
  isQuietSince(place: StreamPlace): boolean {
    return !isAfter(this.#quietSince, place)
  }

  get streams(): IterableIterator<[OpenStream, NextPage]> {
    return this.#streams.entries()
  }

  /**
   * The stream gets all events after `place`. If `#place` is after `place`, there must be no events between them: see
   * {@link isQuietSince}.
   */
  add(stream: OpenStream, nextPage: NextPage, place: StreamPlace = this.#place): void {
    this.#streams.set(stream, nextPage)
    if (isAfter(place, this.#place)) this.#ahead.set(stream, place)
  }

  remove(stream: OpenStream): void {
    this.#streams.delete(stream)
    this.#ahead.delete(stream)
  }

  wake(): void {
    this.#isDue = true
    if (!this.#isReading && this.#sending === undefined) this.#host.enqueue(this)
  }

  close(): void {
    this.#end(streamEnds.sourceClosed)
  }

  /** Ends the streams after an unexpected error. */
  fail(): void {
    this.#end(streamEnds.failed)
  }

  /** Cancels the timers and drops the streams without ending them. */
  stop(): void {
    this.#cancelStatus?.()
    this.#cancelRetry?.()
    this.#streams.clear()
  }

  /** Requests a page, or sends a page to some streams. Returns whether the next step can be done now. */
  step(): boolean {
    if (this.isEmpty || this.#isReading) return false
    if (this.#sending !== undefined) {
      if (advance(this.#sending)) return true
      this.#sending = undefined
    } else if (this.#isDue && this.#cancelRetry === undefined) this.#read()
    return this.#sending !== undefined || (this.#isDue && !this.#isReading && this.#cancelRetry === undefined)
  }

  #read(): void {
    const [nextPage] = this.#streams.values()
    if (nextPage === undefined) return
    this.#isDue = false
    this.#isReading = true
    // While catching up, a page can have one event more than the replay limit, which shows that the limit was exceeded.
    const size =
      this.#replayed === undefined ? pageReaderLimits.streamPageEvents : pageReaderLimits.streamReplayMax + 1
    const response = nextPage(this.#order.request(this.#place, size))
    if (!(response instanceof Promise)) this.#take(response)
    else {
      response
        .then(result => {
          this.#take(result)
          this.#host.enqueue(this)
        })
        .catch(error => {
          this.#host.onFailure(error)
          this.fail()
        })
    }
  }

  #take(response: QueryResponse): void {
    this.#isReading = false
    if (this.isEmpty) return
    if (response.status !== 200) this.#recover(response)
    else {
      this.#failures = 0
      this.#send(this.#order.read(response.longBody?.joined().toString() ?? response.body))
    }
  }

  /**
   * Handles a failed request for a page. After status 400 or 401 or an internal error, the streams end at once. If the
   * database has exhausted its rate limits, the request is repeated until it succeeds. After other failures, it is
   * repeated only a few times.
   */
  #recover({ metrics, requestError, status }: QueryResponse): void {
    const isRateLimited = metrics !== undefined && metrics.rateLimited.length > 0
    if (status === 401) this.#end(rightsLost(epoch))
    else if (status === 400) this.#end(streamEnds.sourceClosed)
    else if (
      requestError === 'internal server error' ||
      (!isRateLimited && ++this.#failures > pageReaderLimits.streamRetriesMax)
    ) {
      this.#end(streamEnds.failed)
    } else {
      this.#isDue = true
      this.#cancelRetry = this.#host.timers.after(pageReaderLimits.streamRetryMs, () => {
        this.#cancelRetry = undefined
        this.#host.enqueue(this)
      })
    }
  }

  #send(page: StreamPage): void {
    this.#place = page.place
    if (page.lines.length > 0) this.#quietSince = page.place
    this.#costs = page.costs.map((cost, index) => cost + (this.#costs[index] ?? 0))
    const lines = [...page.lines]
    let end: Ending | undefined = page.isOver ? 'over' : undefined
    if (this.#replayed !== undefined) {
      const left = pageReaderLimits.streamReplayMax - this.#replayed
      this.#replayed += lines.length
      if (lines.length > left) {
        lines.length = left
        end = streamEnds.replayTooLong
      }
    }
    if (lines.length === 0 && this.#wantsStatus) {
      lines.push({ place: page.place, text: this.#order.status(page.place, this.#costs) })
    }
    if (lines.length === 0) this.#finish(page)
    else {
      this.#costs = []
      this.#wantsStatus = false
      this.#sentMs = this.#host.clock.elapsedMs()
      this.#sending = this.#sendAll([...this.#streams.keys()], lines, end, page)
    }
  }

  /** Sends the events to one stream after the other, and yields the number of sent bytes after each. */
  *#sendAll(
    streams: readonly OpenStream[],
    lines: StreamPage['lines'],
    end: Ending | undefined,
    page: StreamPage,
  ): Generator<number, void, void> {
    const encoded = lines.map(({ place, text }) => ({ place, bytes: Buffer.from(text) }))
    const all = encoded.map(({ bytes }) => bytes)
    for (const stream of streams) {
      const ahead = this.#ahead.get(stream)
      const own =
        ahead === undefined
          ? all
          : encoded.filter(({ place }) => isAfter(place, ahead)).map(({ bytes }) => bytes)
      const bytes = stream.deliver(own)
      if (end === 'over') {
        // The last event of the page ends the streams that get it. A stream that begins after this event stays open.
        if (own.length > 0) stream.complete()
      } else if (end !== undefined) stream.end(end)
      yield bytes
    }
    this.#finish(page)
  }

  /**
   * Called after a page was sent to all streams, or had no events to send. Decides whether a page must be read now; if
   * not, a reader that was catching up has caught up.
   */
  #finish({ hasNext, isOver, place }: StreamPage): void {
    for (const [stream, ahead] of this.#ahead) if (!isAfter(ahead, place)) this.#ahead.delete(stream)
    // An event that ends streams also ends its page early. Streams that remain open need the later events.
    if (hasNext || isOver) this.#isDue = true
    else if (this.#replayed !== undefined) {
      if (this.#host.moveToShared(this)) this.#replayed = undefined
      else this.#isDue = true
    }
  }

  #end(reason: StreamEnd): void {
    for (const stream of [...this.#streams.keys()]) stream.end(reason)
  }

  #awaitStatus(ms: number): void {
    this.#cancelStatus = this.#host.timers.after(ms, () => {
      const idleMs = this.#host.clock.elapsedMs() - this.#sentMs
      if (idleMs < pageReaderLimits.streamStatusMs)
        this.#awaitStatus(pageReaderLimits.streamStatusMs - idleMs)
      else {
        this.#wantsStatus = true
        this.#awaitStatus(pageReaderLimits.streamStatusMs)
        this.wake()
      }
    })
  }
}

/** Continues `work` up to the limits of one turn of the event loop. Returns whether work remains. */
export function advance(work: Generator<number, void, void>): boolean {
  let bytes = 0
  for (
    let streams = 0;
    streams < pageReaderLimits.streamsPerTurn && bytes < pageReaderLimits.streamBytesPerTurn;
    streams++
  ) {
    const next = work.next()
    if (next.done) return false
    bytes += next.value
  }
  return true
}

interface PagedOptions {
  readonly clock: Pick<Clock, 'elapsedMs'>
  readonly timers: Pick<Timers, 'after'>
  readonly onInternalError: (error: unknown) => void
}

/**
 * At first, a stream that needs past events has a reader of its own. Once caught up, it shares a reader with the
 * streams that have the same events. Readers take turns, and the work in one turn of the event loop is limited, so
 * thousands of readers do not delay queries.
 */
export class PagedStreams {
  readonly #options: PagedOptions
  /** Readers that have caught up, by their keys. */
  readonly #shared = new Map<string, PageReader>()
  readonly #readers = new Map<OpenStream, PageReader>()
  readonly #queue = new Set<PageReader>()
  #isScheduled = false

  constructor(options: PagedOptions) {
    this.#options = options
  }

  /**
   * A stream joins a shared reader that has not read any event after the start of the stream. Most streams can join one,
   * because they begin at the current time.
   */
  add(stream: OpenStream, order: PagedOrder, nextPage: StreamOpening['nextPage']): void {
    const { subject, viewer } = stream.origin
    const { clock, onInternalError, timers } = this.#options
    const key = `${viewer.rights.key} ${order.key}`
    const shared = this.#shared.get(key)
    if (shared?.isQuietSince(order.place) === true) {
      shared.add(stream, nextPage, order.place)
      this.#readers.set(stream, shared)
      return
    }
    const reader: PageReader = new PageReader(key, order, {
      clock,
      timers,
      enqueue: each => this.#enqueue(each),
      moveToShared: each => this.#share(each, subject),
      onFailure: onInternalError,
    })
    reader.add(stream, nextPage)
    this.#readers.set(stream, reader)
    subject.readers.add(reader)
    this.#enqueue(reader)
  }

  release(stream: OpenStream): void {
    const reader = this.#readers.get(stream)
    if (reader === undefined) return
    this.#readers.delete(stream)
    reader.remove(stream)
    if (reader.isEmpty) this.#drop(reader, stream.origin.subject)
  }

  #drop(reader: PageReader, subject: Subject): void {
    reader.stop()
    subject.readers.delete(reader)
    this.#queue.delete(reader)
    if (this.#shared.get(reader.key) === reader) this.#shared.delete(reader.key)
  }

  /**
   * Makes `reader`, which has caught up, the shared reader of its key, or moves its streams to the existing one.
   * Returns false if the shared reader has already sent events that these streams lack.
   */
  #share(reader: PageReader, subject: Subject): boolean {
    const shared = this.#shared.get(reader.key)
    if (shared === undefined) {
      this.#shared.set(reader.key, reader)
      return true
    }
    if (!shared.isQuietSince(reader.place)) return false
    for (const [stream, nextPage] of [...reader.streams]) {
      shared.add(stream, nextPage, reader.place)
      this.#readers.set(stream, shared)
    }
    this.#drop(reader, subject)
    return true
  }

  #enqueue(reader: PageReader): void {
    this.#queue.add(reader)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isScheduled = false
    const { clock, onInternalError } = this.#options
    const endMs = clock.elapsedMs() + limits.streamTurnMs
    // Each queued reader does at most one step. Readers that are queued during this loop wait for the next call of this
    // method.
    for (const reader of [...this.#queue]) {
      this.#queue.delete(reader)
      try {
        if (reader.step()) this.#queue.add(reader)
      } catch (error) {
        onInternalError(error)
        reader.fail()
      }
      if (clock.elapsedMs() >= endMs) break
    }
    const [next] = this.#queue
    if (next !== undefined) this.#enqueue(next)
  }
}
