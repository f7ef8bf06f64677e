// Reads the events of streams page by page: for streams that tell the same, once. Each page is a request of its own, which may
// wait, or be evaluated in another process, while everybody else goes on; where a page ends the next one begins, so nothing is
// lost or told twice, whenever it is read.

import type { Clock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import { epoch } from '../../base/micros.ts'
import type { Cancel, Timers } from '../../base/timers.ts'
import type { PagedOrder, StreamEnd, StreamPage, StreamPlace } from '../../model/streaming.ts'
import type { QueryResponse } from '../contract.ts'
import type { StreamOpening } from '../stream-opener.ts'
import type { OpenStream, Reader } from './open-stream.ts'
import { rightsLost, streamEnds } from './stream-ends.ts'

/** Reads a page; {@link StreamOpening}. */
type NextPage = StreamOpening['nextPage']

/** What readers share. */
interface ReaderHost {
  readonly clock: Pick<Clock, 'elapsedMs'>
  readonly timers: Pick<Timers, 'after'>
  /** Calls {@link PageReader.step} soon. */
  readonly enqueue: (reader: PageReader) => void
  /**
   * The streams have come to the present: another reader that tells the same may take them over. Returns false when that one has
   * come further.
   */
  readonly caughtUp: (reader: PageReader) => boolean
  /** Told of bugs. */
  readonly onFailure: (error: unknown) => void
}

/** How telling a page ends a stream: with an event of its own, or with the last event of the page. */
type Ending = StreamEnd | 'over'

/** Whether the first of two places comes later. */
function isBehind(left: StreamPlace, right: StreamPlace): boolean {
  return left.time > right.time || (left.time === right.time && left.ordinal > right.ordinal)
}

export class PageReader implements Reader {
  readonly key: string
  readonly #order: PagedOrder
  readonly #host: ReaderHost
  /** The streams that are told, each with how its opener reads on. */
  readonly #streams = new Map<OpenStream, NextPage>()
  /** How far streams are that joined from further on. */
  readonly #ahead = new Map<OpenStream, StreamPlace>()
  #place: StreamPlace
  /** Behind this and up to the place there was nothing to tell. */
  #quietSince: StreamPlace
  /** Events that were told before the streams had caught up; undefined behind that. */
  #replayed: number | undefined = 0
  /** Something may have happened since the page that is being read was asked for. */
  #isDue = true
  #isReading = false
  /** What is being told, a share of the streams in each turn. */
  #telling: Generator<number, void, void> | undefined
  #failures = 0
  #toldMs: number
  #wantsStatus = false
  #costs: readonly number[] = []
  #cancelStatus: Cancel | undefined
  #cancelRetry: Cancel | undefined

  /** `key`: readers with the same one tell the same. */
  constructor(key: string, order: PagedOrder, host: ReaderHost) {
    this.key = key
    this.#order = order
    this.#host = host
    this.#place = order.place
    this.#quietSince = order.place
    this.#toldMs = host.clock.elapsedMs()
    this.#awaitStatus(limits.streamStatusMs)
  }

  get isEmpty(): boolean {
    return this.#streams.size === 0
  }

  get place(): StreamPlace {
    return this.#place
  }

  /** Whether a stream that begins at a place misses nothing here. */
  hasToldNothingSince(place: StreamPlace): boolean {
    return !isBehind(this.#quietSince, place)
  }

  get streams(): IterableIterator<[OpenStream, NextPage]> {
    return this.#streams.entries()
  }

  /** Tells a stream of everything behind its place, between which and that of this reader there is nothing to tell. */
  add(stream: OpenStream, nextPage: NextPage, place: StreamPlace = this.#place): void {
    this.#streams.set(stream, nextPage)
    if (isBehind(place, this.#place)) this.#ahead.set(stream, place)
  }

  remove(stream: OpenStream): void {
    this.#streams.delete(stream)
    this.#ahead.delete(stream)
  }

  wake(): void {
    this.#isDue = true
    if (!this.#isReading && this.#telling === undefined) this.#host.enqueue(this)
  }

  close(): void {
    this.#end(streamEnds.sourceClosed)
  }

  /** Something is broken. */
  fail(): void {
    this.#end(streamEnds.failed)
  }

  /** No stream is told any more. */
  stop(): void {
    this.#cancelStatus?.()
    this.#cancelRetry?.()
    this.#streams.clear()
  }

  /** Goes on by a share: reads a page, or tells some streams of one. Returns whether it has more to do now. */
  step(): boolean {
    if (this.isEmpty || this.#isReading) return false
    if (this.#telling !== undefined) {
      if (hasMore(this.#telling)) return true
      this.#telling = undefined
    } else if (this.#isDue && this.#cancelRetry === undefined) this.#read()
    return this.#telling !== undefined || (this.#isDue && !this.#isReading && this.#cancelRetry === undefined)
  }

  #read(): void {
    const [nextPage] = this.#streams.values()
    if (nextPage === undefined) return
    this.#isDue = false
    this.#isReading = true
    // One more than a stream may have to catch up on tells that it has.
    const size = this.#replayed === undefined ? limits.streamPageEvents : limits.streamReplayMax + 1
    const response = nextPage(this.#order.request(this.#place, size))
    if (!(response instanceof Promise)) this.#take(response)
    else {
      response
        .then(settled => {
          this.#take(settled)
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
      this.#tell(this.#order.read(response.longBody?.joined().toString() ?? response.body))
    }
  }

  /** Who has used up what the database may use is told later; other failures are borne for a while. */
  #recover({ metrics, requestError, status }: QueryResponse): void {
    const isRateLimited = metrics !== undefined && metrics.rateLimited.length > 0
    if (status === 401) this.#end(rightsLost(epoch))
    else if (status === 400) this.#end(streamEnds.sourceClosed)
    else if (
      requestError === 'internal server error' ||
      (!isRateLimited && ++this.#failures > limits.streamRetriesMax)
    ) {
      this.#end(streamEnds.failed)
    } else {
      this.#isDue = true
      this.#cancelRetry = this.#host.timers.after(limits.streamRetryMs, () => {
        this.#cancelRetry = undefined
        this.#host.enqueue(this)
      })
    }
  }

  #tell(page: StreamPage): void {
    this.#place = page.place
    if (page.lines.length > 0) this.#quietSince = page.place
    this.#costs = summed(this.#costs, page.costs)
    const lines = [...page.lines]
    let end: Ending | undefined = page.isOver ? 'over' : undefined
    if (this.#replayed !== undefined) {
      const left = limits.streamReplayMax - this.#replayed
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
      this.#toldMs = this.#host.clock.elapsedMs()
      this.#telling = this.#tellAll([...this.#streams.keys()], lines, end, page)
    }
  }

  /** Tells one stream after the other; yields the bytes that each has got. */
  *#tellAll(
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
          : encoded.filter(({ place }) => isBehind(place, ahead)).map(({ bytes }) => bytes)
      const bytes = stream.deliver(own)
      if (end === 'over') {
        // What ends the others may lie before the place at which one has joined.
        if (own.length > 0) stream.complete()
      } else if (end !== undefined) stream.end(end)
      yield bytes
    }
    this.#finish(page)
  }

  /** Everybody has been told of a page. */
  #finish({ hasNext, isOver, place }: StreamPage): void {
    for (const [stream, ahead] of this.#ahead) if (!isBehind(ahead, place)) this.#ahead.delete(stream)
    if (hasNext || isOver) this.#isDue = true
    else if (this.#replayed !== undefined) {
      if (this.#host.caughtUp(this)) this.#replayed = undefined
      else this.#isDue = true
    }
  }

  #end(reason: StreamEnd): void {
    for (const stream of [...this.#streams.keys()]) stream.end(reason)
  }

  #awaitStatus(ms: number): void {
    this.#cancelStatus = this.#host.timers.after(ms, () => {
      const idleMs = this.#host.clock.elapsedMs() - this.#toldMs
      if (idleMs < limits.streamStatusMs) this.#awaitStatus(limits.streamStatusMs - idleMs)
      else {
        this.#wantsStatus = true
        this.#awaitStatus(limits.streamStatusMs)
        this.wake()
      }
    })
  }
}

function summed(left: readonly number[], right: readonly number[]): readonly number[] {
  return right.map((cost, index) => cost + (left[index] ?? 0))
}

/** Goes on with as much as one turn of the event loop may take; returns whether there is more. */
export function hasMore(work: Generator<number, void, void>): boolean {
  let bytes = 0
  for (let streams = 0; streams < limits.streamsPerTurn && bytes < limits.streamBytesPerTurn; streams++) {
    const next = work.next()
    if (next.done) return false
    bytes += next.value
  }
  return true
}
