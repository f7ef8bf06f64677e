// Sends the events of an open stream. Each event is written after the previous one has been flushed, so that two events
// never share a DATA frame: the Python driver treats each DATA frame as one event. Thousands of streams may be open for
// days, so a writer does not reference the request that opened its stream, whose memory is freed.

import type { Writable } from 'node:stream'
import type { MemoryBudget, Share } from '../../base/admission/memory-budget.ts'
import type { Cancel, Timers } from '../../base/timers.ts'
import type { EventStream } from '../../engine/engine-contract.ts'
import type { Outlet } from './exchange.ts'
import type { RequestMeter } from './request-meter.ts'
import type { TurnEnd } from './turn-end.ts'

export const eventWriterLimits = {
  /** Milliseconds that a client may take to read the end of its stream before the client is disconnected; own limit. */
  streamEndMs: 5000,
} as const

export interface EventWriterServices {
  /** Bytes that were written to connections but not yet read by the clients. */
  readonly budget: MemoryBudget
  /**
   * Has a function for each short response and each event of this turn of the event loop. At the end of the turn, each
   * function counts the bytes that have not been flushed.
   */
  readonly written: TurnEnd<() => void>
  readonly timers: Pick<Timers, 'after'>
  readonly meter: Pick<RequestMeter, 'openStreams'>
}

export class EventWriter {
  readonly #stream: EventStream
  readonly #outlet: Outlet
  readonly #reader: string
  readonly #services: EventWriterServices
  /** Bytes of the event that is being sent. Undefined when the next event may be written. */
  #unsent: number | undefined
  #share: Share | undefined
  #cancelEndTimer: Cancel | undefined

  /** Begins to send. `reader`: the group of the memory budget to which unread events are charged. */
  constructor(stream: EventStream, outlet: Outlet, reader: string, services: EventWriterServices) {
    this.#stream = stream
    this.#outlet = outlet
    this.#reader = reader
    this.#services = services
    services.meter.openStreams++
    this.#target.on('close', () => this.#close())
    stream.listen(() => this.#sendNext())
    this.#sendNext()
  }

  get #target(): Writable {
    return this.#outlet.body
  }

  readonly #countUnsent = () => {
    // An open share of the memory budget belongs to the current event, because the shares of earlier events are closed.
    // The bytes of the current event are then already counted.
    if (this.#unsent === undefined || this.#share !== undefined || this.#target.destroyed) return
    this.#share = this.#services.budget.open(this.#reader, () => this.#outlet.abort(), this.#unsent)
  }

  #sendNext(): void {
    if (this.#stream.ended) this.#limitEnd()
    if (this.#unsent !== undefined || this.#target.destroyed) return
    const line = this.#stream.take()
    if (line !== undefined) {
      this.#unsent = line.length
      this.#target.write(line, this.#sent)
      this.#services.written.add(this.#countUnsent)
    } else if (this.#stream.ended) this.#target.end()
  }

  readonly #sent = () => {
    this.#share?.close()
    this.#share = undefined
    this.#unsent = undefined
    this.#sendNext()
  }

  /** Closes the connection if the client does not read the last events in time. */
  #limitEnd(): void {
    this.#cancelEndTimer ??= this.#services.timers.after(eventWriterLimits.streamEndMs, () =>
      this.#outlet.abort(),
    )
  }

  #close(): void {
    this.#share?.close()
    this.#cancelEndTimer?.()
    this.#stream.close()
    this.#services.meter.openStreams--
  }
}
