// All event streams of a process: opens them, hands them the events of each transaction, ends them.
//
// For each transaction it is first worked out what every stream gets and which streams end, and then done: deciding
// may have to wait for a predicate and start again. The work is shared: events are made once per subject, decided
// once per session and rendered once per format, so that many streams of one document cost little more than one.

import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Cancel, Timers } from '../base/timers.ts'
import type { EventStream } from '../engine/contract.ts'
import type { StreamField, StreamOpener, StreamOpening } from '../engine/streaming.ts'
import { limits } from '../limits.ts'
import type { EvaluationHost } from '../query/evaluation.ts'
import type { CommittedTransaction, Store, Transaction } from '../store/contract.ts'
import type { DatabaseId, Micros } from '../values/value.ts'
import type { ApiVersion } from '../values/wire-version.ts'
import { Audience } from './audience.ts'
import { Conditions } from './conditions.ts'
import { type EventFormat, eventLine, type StreamEnd } from './event-line.ts'
import type { StreamEvent } from './events.ts'
import { OpenStream, RefusedStream } from './open-stream.ts'
import { asOf } from './past-transaction.ts'
import { Session, sessionTerms, sourceConditions } from './session.ts'
import { type Subject, Subjects, sourceOf } from './subject.ts'
import { Tailer, type Waiting } from './tailer.ts'

interface StreamsOptions {
  readonly store: Store
  readonly host: EvaluationHost
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  /** Streams open at one time. */
  readonly openMax: number
  /** Told of bugs; all streams have been ended. */
  readonly onInternalError: (error: unknown) => void
}

const lostAuthorization = (txn: Micros): StreamEnd => ({
  code: 'permission denied',
  description: 'Authorization lost during stream evaluation.',
  txn,
})
const sourceClosed: StreamEnd = {
  code: 'time out',
  description: 'Stream was unexpectedly closed by its source.',
  txn: 0,
}
const alreadyClosed: StreamEnd = {
  code: 'time out',
  description: 'Subscribing to an already closed stream.',
  txn: 0,
}
const tooMany: StreamEnd = { code: 'too many requests', description: 'Too many open streams.', txn: 0 }
const failed: StreamEnd = {
  code: 'internal server error',
  description: 'The service met an internal error.',
  txn: 0,
}

/** What one transaction means to the streams that are open. */
interface Outcome {
  readonly lost: ReadonlySet<Session<OpenStream>>
  readonly deliveries: readonly (readonly [OpenStream, readonly string[]])[]
  readonly closed: ReadonlySet<Subject<OpenStream>>
}

/** How often it is looked whether a credential has expired, in milliseconds. */
const expiryLookMs = 60_000

export class Streams implements StreamOpener {
  readonly #options: StreamsOptions
  readonly #tailer: Tailer
  readonly #open = new Set<OpenStream>()
  readonly #subjects = new Subjects<OpenStream>()
  readonly #sessions = new Map<string, Session<OpenStream>>()
  readonly #formats = new Map<string, EventFormat>()
  readonly #sessionConditions = new Conditions<Session<OpenStream>>()
  readonly #sourceConditions = new Conditions<Subject<OpenStream>>()
  readonly #expiries = new Map<Session<OpenStream>, Cancel>()
  #isEnded = false

  constructor(options: StreamsOptions) {
    this.#options = options
    this.#tailer = new Tailer({
      store: options.store,
      timers: options.timers,
      clock: options.clock,
      handle: (committed, transaction, waiting) => this.#handle(committed, transaction, waiting),
      onFailure: error => {
        for (const stream of this.#open) stream.end(failed)
        options.onInternalError(error)
      },
    })
  }

  open({ subject: target, fields, evaluation }: StreamOpening): EventStream {
    const id = String(BigInt(`0x${this.#options.random.hex(8)}`) >> 1n)
    if (this.#isEnded) return new RefusedStream(id, alreadyClosed)
    if (this.#open.size >= this.#options.openMax) return new RefusedStream(id, tooMany)
    const { transaction, apiVersion, database } = evaluation
    const terms = sessionTerms(evaluation)
    const origin = {
      subject: this.#subjects.obtain(target, transaction),
      session: this.#sessions.get(terms.key) ?? new Session<OpenStream>(terms),
      format: this.#formatOf(fields, apiVersion, database),
      start: transaction.lastCommitTime,
    }
    const stream = new OpenStream(id, origin, ended => this.#release(ended))
    this.#register(stream, transaction)
    return stream
  }

  end(): void {
    this.#isEnded = true
    for (const stream of this.#open) stream.end(sourceClosed)
  }

  #formatOf(fields: readonly StreamField[], apiVersion: ApiVersion, scope: DatabaseId): EventFormat {
    const key = `${apiVersion} ${scope} ${fields}`
    let format = this.#formats.get(key)
    if (format === undefined) {
      format = { fields, apiVersion, scope }
      this.#formats.set(key, format)
    }
    return format
  }

  #register(stream: OpenStream, transaction: Transaction): void {
    const { session, subject, start } = stream.origin
    this.#open.add(stream)
    if (session.streams.size === 0) this.#begin(session)
    session.streams.add(stream)
    if (subject.streams.size === 0) {
      this.#sourceConditions.add(subject, sourceConditions(sourceOf(subject.target), transaction))
    }
    subject.streams.add(stream)
    if (!this.#tailer.isRunning) this.#tailer.start(start)
  }

  #begin(session: Session<OpenStream>): void {
    const { key, conditions } = session.terms
    this.#sessions.set(key, session)
    this.#sessionConditions.add(session, conditions)
    this.#awaitExpiry(session)
  }

  /** A silent stream ends too when its credential does. */
  #awaitExpiry(session: Session<OpenStream>): void {
    const { expires } = session.terms
    if (expires === Number.POSITIVE_INFINITY) return
    const { clock, timers } = this.#options
    const leftMs = Math.ceil((expires - clock.now()) / 1000)
    // Looked at again and again, because the clock may be set forward meanwhile.
    const ms = Math.max(0, Math.min(leftMs, expiryLookMs))
    const check = () => {
      const now = clock.now()
      if (now >= expires) this.#lose(session, now)
      else this.#awaitExpiry(session)
    }
    this.#expiries.set(session, timers.after(ms, check))
  }

  #lose(session: Session<OpenStream>, txn: Micros): void {
    for (const stream of session.streams) stream.end(lostAuthorization(txn))
  }

  #release(stream: OpenStream): void {
    if (!this.#open.delete(stream)) return
    const { session, subject } = stream.origin
    session.streams.delete(stream)
    if (session.streams.size === 0) this.#forget(session)
    subject.streams.delete(stream)
    if (subject.streams.size === 0) {
      this.#sourceConditions.remove(subject)
      this.#subjects.drop(subject)
    }
    if (this.#open.size > 0) return
    this.#formats.clear()
    this.#tailer.stop()
  }

  #forget(session: Session<OpenStream>): void {
    this.#sessions.delete(session.terms.key)
    this.#sessionConditions.remove(session)
    this.#expiries.get(session)?.()
    this.#expiries.delete(session)
  }

  #handle(committed: CommittedTransaction, transaction: Transaction, waiting: Waiting): number {
    const { time } = committed
    const { lost, deliveries, closed } = this.#outcomeOf(committed, transaction, waiting)
    for (const session of lost) this.#lose(session, time)
    let events = 0
    for (const [stream, lines] of deliveries) {
      stream.deliver(lines)
      events = Math.max(events, lines.length)
    }
    for (const subject of closed) {
      for (const stream of subject.streams) if (stream.origin.start < time) stream.end(sourceClosed)
    }
    return events
  }

  #outcomeOf({ changes, time }: CommittedTransaction, transaction: Transaction, waiting: Waiting): Outcome {
    const lost = this.#sessionConditions.brokenBy(changes)
    for (const session of lost) if (session.terms.since >= time) lost.delete(session)
    const deliveries: [OpenStream, readonly string[]][] = []
    const { host } = this.#options
    const past = asOf(transaction, time)
    const deadline = host.now() + limits.streamBatchMs * 1000
    const audience = new Audience({ host, transaction: past, deadline, ...waiting })
    for (const [subject, events] of this.#subjects.eventsOf(changes, time, transaction)) {
      const lines = new Lines(events, subject, audience, time, transaction)
      for (const stream of subject.streams) {
        const { session, start } = stream.origin
        if (start >= time || lost.has(session)) continue
        if (session.terms.expires <= time) {
          lost.add(session)
          continue
        }
        const own = lines.of(stream)
        if (own.length > 0) deliveries.push([stream, own])
      }
    }
    return { lost, deliveries, closed: this.#sourceConditions.brokenBy(changes) }
  }
}

/** The events of one subject as its streams get them: decided once per session, rendered once per format. */
class Lines {
  readonly #events: readonly StreamEvent[]
  readonly #subject: Subject<OpenStream>
  readonly #audience: Audience
  readonly #txn: Micros
  readonly #transaction: Transaction
  readonly #known = new Map<Session<OpenStream>, Map<EventFormat, readonly string[]>>()
  readonly #rendered = new Map<EventFormat, Map<StreamEvent, string>>()

  constructor(
    events: readonly StreamEvent[],
    subject: Subject<OpenStream>,
    audience: Audience,
    txn: Micros,
    transaction: Transaction,
  ) {
    this.#events = events
    this.#subject = subject
    this.#audience = audience
    this.#txn = txn
    this.#transaction = transaction
  }

  of({ origin: { session, format } }: OpenStream): readonly string[] {
    let ofSession = this.#known.get(session)
    if (ofSession === undefined) {
      ofSession = new Map()
      this.#known.set(session, ofSession)
    }
    let lines = ofSession.get(format)
    if (lines === undefined) {
      const visible = this.#audience.visible(this.#events, this.#subject.target, session)
      lines = visible.map(event => this.#render(event, format))
      ofSession.set(format, lines)
    }
    return lines
  }

  #render(event: StreamEvent, format: EventFormat): string {
    let ofFormat = this.#rendered.get(format)
    if (ofFormat === undefined) {
      ofFormat = new Map()
      this.#rendered.set(format, ofFormat)
    }
    let text = ofFormat.get(event)
    if (text === undefined) {
      text = eventLine(event, this.#txn, format, this.#transaction)
      ofFormat.set(event, text)
    }
    return text
  }
}
