// Sends the events of an open stream. Each event is written after the previous one has been flushed: the Python driver
// treats each DATA frame as one event, and writes that wait would share a frame. Thousands of streams may be open for
// days, so a writer holds no reference to the request that opened its stream.

import type { Writable } from 'node:stream'
import { limits } from '../../base/limits.ts'
import type { Cancel, Timers } from '../../base/timers.ts'
import type { EventStream } from '../../engine/contract.ts'
import type { Outlet } from './exchange.ts'
import type { Share } from './fair-budget.ts'
import type { RequestMeter } from './request-meter.ts'
import type { Unread, UnsentBytes } from './unread.ts'

/** Services that all event writers share. */
export interface EventWriterServices {
  readonly unread: Unread
  readonly timers: Pick<Timers, 'after'>
  readonly meter: Pick<RequestMeter, 'streams'> | undefined
}

export class EventWriter implements UnsentBytes {
  readonly #stream: EventStream
  readonly #outlet: Outlet
  readonly #reader: string
  readonly #writing: EventWriterServices
  /** Bytes that have not been flushed; undefined when the next event may be written. */
  #unsent: number | undefined
  #share: Share | undefined
  #cancelCut: Cancel | undefined

  /** Begins to send. `reader` is the group that unread events count for. */
  constructor(stream: EventStream, outlet: Outlet, reader: string, writing: EventWriterServices) {
    this.#stream = stream
    this.#outlet = outlet
    this.#reader = reader
    this.#writing = writing
    if (writing.meter) writing.meter.streams++
    this.#target.on('close', () => this.#close())
    stream.listen(() => this.#pass())
    this.#pass()
  }

  get #target(): Writable {
    return this.#outlet.body
  }

  countUnsent(): void {
    // The share of an event is closed before the next event is written.
    if (this.#unsent === undefined || this.#share !== undefined || this.#target.destroyed) return
    this.#share = this.#writing.unread.count(this.#reader, this.#unsent, () => this.#outlet.abort())
  }

  #pass(): void {
    if (this.#stream.ended) this.#limitEnd()
    if (this.#unsent !== undefined || this.#target.destroyed) return
    const line = this.#stream.take()
    if (line !== undefined) {
      this.#unsent = line.length
      this.#target.write(line, this.#sent)
      this.#writing.unread.add(this)
    } else if (this.#stream.ended) this.#target.end()
  }

  readonly #sent = () => {
    this.#share?.close()
    this.#share = undefined
    this.#unsent = undefined
    this.#pass()
  }

  /** Closes the connection if the client does not read the last events in time. */
  #limitEnd(): void {
    this.#cancelCut ??= this.#writing.timers.after(limits.streamEndMs, () => this.#outlet.abort())
  }

  #close(): void {
    this.#share?.close()
    this.#cancelCut?.()
    this.#stream.close()
    const { meter } = this.#writing
    if (meter) meter.streams--
  }
}
