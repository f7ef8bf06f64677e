// An open stream, with its subject and its viewer. Events are queued for a reader that may be slow. The queue is
// bounded. A stream never skips an event, so the stream of a reader that falls too far behind ends.

import { limits } from '../../base/limits.ts'
import { epoch } from '../../base/micros.ts'
import type { StreamEnd, StreamFormat, StreamSubject, StreamWording } from '../../model/streaming.ts'
import type { Micros } from '../../values/value.ts'
import type { EventStream } from '../contract.ts'
import type { ViewerTerms } from './viewer.ts'

/** Reads the events of a subject by itself. */
export interface Reader {
  /** Called when the subject may have changed. */
  wake(): void
  /** Called when the subject will have no more events. */
  close(): void
}

/** A subject that at least one stream follows. */
export class Subject {
  readonly target: StreamSubject
  readonly streams = new Set<OpenStream>()
  /** The readers that read the events themselves after a change. */
  readonly readers = new Set<Reader>()
  /** Identifies the subject among the subjects of its kind; for sets, among the sets of its index. */
  readonly key: string

  /** Returns whether no stream follows the subject. */
  get isIdle(): boolean {
    return this.streams.size === 0 && this.readers.size === 0
  }

  constructor(target: StreamSubject, key: string) {
    this.target = target
    this.key = key
  }
}

/** The common viewer of streams that were opened with the same rights. */
export class Viewer {
  readonly terms: ViewerTerms
  readonly streams = new Set<OpenStream>()

  constructor(terms: ViewerTerms) {
    this.terms = terms
  }
}

/** The subject, viewer and format of a stream. */
interface StreamOrigin {
  readonly subject: Subject
  readonly viewer: Viewer
  readonly wording: StreamWording
  /** The format of events; undefined if the events are received as text. */
  readonly format?: StreamFormat
  /**
   * The newest commit in the snapshot on which the stream was opened. The stream gets the events of all later commits.
   * The time of the snapshot itself is not suitable, because a commit that is still running may have an earlier time.
   */
  readonly start: Micros
}

export class OpenStream implements EventStream {
  readonly id: string
  readonly origin: StreamOrigin
  readonly #release: (stream: OpenStream) => void
  #queue: Uint8Array[] = []
  #bytes = 0
  #ended = false
  #listener: (() => void) | undefined

  /** `release` is called once, after the stream has ended or its reader has disconnected. */
  constructor(id: string, origin: StreamOrigin, release: (stream: OpenStream) => void) {
    this.id = id
    this.origin = origin
    this.#release = release
    this.#append(Buffer.from(origin.wording.start(origin.start)))
  }

  get ended(): boolean {
    return this.#ended
  }

  take(): Uint8Array | undefined {
    const line = this.#queue.shift()
    this.#bytes -= line?.length ?? 0
    return line
  }

  listen(listener: () => void): void {
    this.#listener = listener
  }

  close(): void {
    this.#queue = []
    this.#listener = undefined
    this.#finish()
  }

  /** Queues the events of one transaction. Returns their number of bytes. */
  deliver(lines: readonly Uint8Array[]): number {
    const bytes = lines.reduce((sum, line) => sum + line.length, 0)
    if (this.#ended) return bytes
    const waiting = this.#queue.length
    if (waiting >= limits.streamEventsMax || this.#bytes >= limits.streamBytesMax) {
      this.#queue = []
      const description = `Stream closed due to congestion after accumulating ${waiting} items.`
      this.end({ cause: 'not read', code: 'time out', description, txn: epoch })
      return bytes
    }
    for (const line of lines) this.#append(line)
    this.#listener?.()
    return bytes
  }

  /** Ends the stream. The reader still gets the queued events. */
  end(reason: StreamEnd): void {
    if (this.#ended) return
    this.#append(Buffer.from(this.origin.wording.end(reason)))
    this.#finish()
    this.#listener?.()
  }

  /** Ends the stream after the queued events, without a further event. */
  complete(): void {
    this.#finish()
    this.#listener?.()
  }

  #append(line: Uint8Array): void {
    if (line.length === 0) return
    this.#queue.push(line)
    this.#bytes += line.length
  }

  #finish(): void {
    if (this.#ended) return
    this.#ended = true
    this.#release(this)
  }
}

/** Returns a stream that ends at once. */
export function rejectedStream(id: string, wording: StreamWording, reason: StreamEnd): EventStream {
  const events = [Buffer.from(wording.end(reason))]
  return { id, ended: true, take: () => events.pop(), listen: () => undefined, close: () => undefined }
}
