// The streams whose events are read page by page. Each stream first catches up with a separate reader. Then it
// shares a reader with streams that have the same events. Readers take turns, and the work in a turn of the event loop
// is bounded, so thousands of readers do not delay queries.

import type { Clock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import type { Timers } from '../../base/timers.ts'
import type { PagedOrder } from '../../model/streaming.ts'
import type { StreamOpening } from '../stream-opener.ts'
import type { OpenStream, Subject } from './open-stream.ts'
import { PageReader } from './page-reader.ts'

interface PagedOptions {
  readonly clock: Pick<Clock, 'elapsedMs'>
  readonly timers: Pick<Timers, 'after'>
  readonly onInternalError: (error: unknown) => void
}

export class PagedStreams {
  readonly #options: PagedOptions
  /** Readers that have caught up, by the key of their events. */
  readonly #shared = new Map<string, PageReader>()
  readonly #readers = new Map<OpenStream, PageReader>()
  readonly #queue = new Set<PageReader>()
  #isScheduled = false

  constructor(options: PagedOptions) {
    this.#options = options
  }

  /**
   * Begins to read for a stream. If a shared reader with the same events will read all events that the stream needs,
   * the stream joins this reader. Most streams begin at the current time, so most streams join a reader.
   */
  add(stream: OpenStream, order: PagedOrder, nextPage: StreamOpening['nextPage']): void {
    const { subject, viewer } = stream.origin
    const { clock, onInternalError, timers } = this.#options
    const key = `${viewer.terms.key} ${order.key}`
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
      caughtUp: each => this.#share(each, subject),
      onFailure: onInternalError,
    })
    reader.add(stream, nextPage)
    this.#readers.set(stream, reader)
    subject.readers.add(reader)
    this.#enqueue(reader)
  }

  /** Releases a stream that has ended. */
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

  /** Shares a reader that has caught up. If there is a shared reader already, moves the streams to that reader. */
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
    // Each queued reader gets one turn. Readers that are added in the meantime wait for the next turn.
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
