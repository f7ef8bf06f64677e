// Formats the events of one transaction about one subject. Access is decided once for each viewer, and events are
// rendered once for each format, as bytes that streams share. Results are kept for
// further tries of the same transaction, so long work can be spread over several turns of the event loop.

import { upsert } from '../../base/upsert.ts'
import type { StreamEvent, StreamFormat } from '../../model/streaming.ts'
import type { Transaction } from '../../storage/store/contract.ts'
import type { Micros } from '../../values/value.ts'
import type { Audience } from './audience.ts'
import type { Subject, Viewer } from './open-stream.ts'

/** A try of a transaction: its snapshot and its access decisions. */
interface Reading {
  readonly audience: Audience
  readonly transaction: Transaction
  /** Called before each decision and each rendering. Throws to end the try. */
  readonly beforeStep: () => void
}

export class Lines {
  readonly #subject: Subject
  readonly #events: readonly StreamEvent[]
  readonly #txn: Micros
  /** The known decisions for the events, in the order of the events. */
  readonly #decided = new Map<Viewer, boolean[]>()
  /** The known decisions about the earlier states of documents. */
  readonly #decidedOfPast = new Map<Viewer, Map<StreamEvent, boolean>>()
  readonly #rendered = new Map<StreamFormat, Map<StreamEvent, Uint8Array>>()
  readonly #known = new Map<Viewer, Map<StreamFormat, readonly Uint8Array[]>>()

  /** `txn`: the time of the transaction. */
  constructor(subject: Subject, events: readonly StreamEvent[], txn: Micros) {
    this.#subject = subject
    this.#events = events
    this.#txn = txn
  }

  /** Returns the events for a stream. Throws Pending, and everything that `beforeStep` throws. */
  of(viewer: Viewer, format: StreamFormat, reading: Reading): readonly Uint8Array[] {
    const ofViewer = upsert(this.#known, viewer, () => new Map<StreamFormat, readonly Uint8Array[]>())
    const known = ofViewer.get(format)
    if (known !== undefined) return known
    const decided = this.#decide(viewer, reading)
    const visible = this.#events.filter((_, index) => decided[index])
    const shown = visible.map(event => this.#shown(event, viewer, format, reading))
    const lines = shown.map(event => this.#render(event, format, reading))
    ofViewer.set(format, lines)
    return lines
  }

  #decide(viewer: Viewer, { audience, beforeStep }: Reading): readonly boolean[] {
    const decided = upsert(this.#decided, viewer, () => [])
    for (const event of this.#events.slice(decided.length)) {
      beforeStep()
      decided.push(audience.sees(viewer, event, this.#subject.target))
    }
    return decided
  }

  /** Returns the event, without the earlier state of the document if the viewer may not see that state. */
  #shown(event: StreamEvent, viewer: Viewer, { fields }: StreamFormat, reading: Reading): StreamEvent {
    const { past } = event
    if (past === undefined || !past.fields.some(field => fields.includes(field))) return event
    const decided = upsert(this.#decidedOfPast, viewer, () => new Map<StreamEvent, boolean>())
    let isSeen = decided.get(event)
    if (isSeen === undefined) {
      reading.beforeStep()
      isSeen = reading.audience.seesPast(viewer, event, this.#subject.target)
      decided.set(event, isSeen)
    }
    return isSeen ? event : past.redacted
  }

  #render(event: StreamEvent, format: StreamFormat, { beforeStep, transaction }: Reading): Uint8Array {
    const ofFormat = upsert(this.#rendered, format, () => new Map<StreamEvent, Uint8Array>())
    let line = ofFormat.get(event)
    if (line === undefined) {
      beforeStep()
      line = Buffer.from(format.event(event, this.#txn, transaction))
      ofFormat.set(event, line)
    }
    return line
  }
}
