// Sends the events of an open stream, each in a piece of its own, when the one before has gone out: the Python driver takes each
// DATA frame for one event, and pieces that wait share a frame. There may be thousands of these, open for days, so they hold
// nothing of the request that has opened them.

import type { Writable } from 'node:stream'
import { limits } from '../../base/limits.ts'
import type { Cancel, Timers } from '../../base/timers.ts'
import type { EventStream } from '../../engine/contract.ts'
import type { Outlet } from './exchange.ts'
import type { Share } from './fair-budget.ts'
import type { RequestMeter } from './request-meter.ts'
import type { Sending, Unread } from './unread.ts'

/** What all writers of a service have in common. */
export interface EventWriting {
  readonly unread: Unread
  readonly timers: Pick<Timers, 'after'>
  readonly meter: Pick<RequestMeter, 'streams'> | undefined
}

export class EventWriter implements Sending {
  readonly #stream: EventStream
  readonly #outlet: Outlet
  readonly #reader: string
  readonly #writing: EventWriting
  /** Bytes that have not gone out; undefined when the connection has room for the next event. */
  #unsent: number | undefined
  #share: Share | undefined
  #cancelCut: Cancel | undefined

  /** Begins to send. `reader`: for whom unread events count. */
  constructor(stream: EventStream, outlet: Outlet, reader: string, writing: EventWriting) {
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
    // The share of an event that was counted is closed before the next one is sent.
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

  /** A client that does not take the last events is cut off. */
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
