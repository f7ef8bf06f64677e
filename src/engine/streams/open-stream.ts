// One open stream, what it follows and whom it speaks to. Its events are queued for a reader who may be slow. The queue is
// bounded; who falls too far behind loses the stream, because a stream never leaves anything out.

import { limits } from '../../base/limits.ts'
import { epoch } from '../../base/micros.ts'
import type { StreamEnd, StreamFormat, StreamSubject, StreamWording } from '../../model/streaming.ts'
import type { Micros } from '../../values/value.ts'
import type { EventStream } from '../contract.ts'
import type { ViewerTerms } from './viewer.ts'

/** Reads what has happened to a subject by itself. */
export interface Reader {
  /** Something may have happened. */
  wake(): void
  /** There will be nothing any more. */
  close(): void
}

/** Something followed by at least one stream. */
export class Subject {
  readonly target: StreamSubject
  readonly streams = new Set<OpenStream>()
  /** Who looks for itself when something has happened. */
  readonly readers = new Set<Reader>()
  /** Its name among the subjects of its kind; of sets, among those of its index. */
  readonly key: string

  /** Whether no stream follows it. */
  get isIdle(): boolean {
    return this.streams.size === 0 && this.readers.size === 0
  }

  constructor(target: StreamSubject, key: string) {
    this.target = target
    this.key = key
  }
}

/** Whom streams speak to that were opened with the same rights. */
export class Viewer {
  readonly terms: ViewerTerms
  readonly streams = new Set<OpenStream>()

  constructor(terms: ViewerTerms) {
    this.terms = terms
  }
}

/** What a stream depends on; events are queued for it from there. */
interface StreamOrigin {
  readonly subject: Subject
  readonly viewer: Viewer
  readonly wording: StreamWording
  /** How it tells events; absent where its events come as text. */
  readonly format?: StreamFormat
  /**
   * The newest commit in the snapshot on which the stream was opened. It tells of all later ones, whose times are
   * later for certain; the snapshot's own time may be past that of a commit which was under way.
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

  /** `release` is called once, when the stream has ended or its reader has gone. */
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

  /** Queues the events of one transaction; returns how many bytes they have. */
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

  /** Ends the stream; what is queued already still reaches the reader. */
  end(reason: StreamEnd): void {
    if (this.#ended) return
    this.#append(Buffer.from(this.origin.wording.end(reason)))
    this.#finish()
    this.#listener?.()
  }

  /** What is queued is all there is. */
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

/** A stream that ends where it begins. */
export function refusedStream(id: string, wording: StreamWording, reason: StreamEnd): EventStream {
  const events = [Buffer.from(wording.end(reason))]
  return { id, ended: true, take: () => events.pop(), listen: () => undefined, close: () => undefined }
}
