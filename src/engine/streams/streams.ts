// All event streams of a process: opens them, hands them the events of each transaction, ends them.
//
// For each transaction it is first worked out what every stream gets and which streams end, and then done: deciding
// may have to wait for a predicate and start again. The work is shared: events are made once per subject, decided
// once per viewer and rendered once per format, so that many streams of one document cost little more than one. Both
// are done in shares, so that others get their turn between them.

import type { Clock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import { endOfTime, micros } from '../../base/micros.ts'
import type { Memo } from '../../base/pending.ts'
import type { Random } from '../../base/random.ts'
import type { Cancel, Timers } from '../../base/timers.ts'
import type { SessionHost } from '../../model/session.ts'
import type { StreamEvent, StreamFormat } from '../../model/streaming.ts'
import type { Change, CommittedTransaction, Transaction } from '../../storage/store/contract.ts'
import type { Store } from '../../storage/store/store.ts'
import type { Micros } from '../../values/value.ts'
import type { EventStream } from '../contract.ts'
import type { StreamOpener, StreamOpening } from '../stream-opener.ts'
import { Audience } from './audience.ts'
import { Conditions } from './conditions.ts'
import { Lines } from './lines.ts'
import { OpenStream, type Reader, refusedStream, type Subject, Viewer } from './open-stream.ts'
import { hasMore } from './page-reader.ts'
import { PagedStreams } from './paged-streams.ts'
import { rightsLost, streamEnds } from './stream-ends.ts'
import { Subjects, sourceOf } from './subject.ts'
import { type Handled, Tailer, TurnOver, type Waiting } from './tailer.ts'
import { sourceConditions, viewerTerms } from './viewer.ts'

interface StreamsOptions {
  readonly store: Store
  readonly host: SessionHost
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  /** Streams open at one time. */
  readonly openMax: number
  /** Told of bugs; all streams have been ended. */
  readonly onInternalError: (error: unknown) => void
}

/** What one transaction means to the streams that are open. */
interface Outcome {
  /** Those of streams that are read page by page. */
  readonly readers: readonly Reader[]
  readonly lost: ReadonlySet<Viewer>
  readonly deliveries: readonly (readonly [OpenStream, readonly Uint8Array[]])[]
  readonly closed: ReadonlySet<Subject>
}

/** What has been found out about a transaction that is being tried. */
interface UnderWay {
  /** Tells the transaction from others. */
  readonly memo: Memo
  changesSeen: number
  readonly found: Map<Subject, StreamEvent[]>
  readonly lines: Map<Subject, Lines>
}

/** How often it is looked whether a credential has expired, in milliseconds. */
const expiryLookMs = 60_000

export class Streams implements StreamOpener {
  readonly #options: StreamsOptions
  readonly #tailer: Tailer
  readonly #open = new Set<OpenStream>()
  readonly #paged: PagedStreams
  readonly #subjects = new Subjects()
  readonly #viewers = new Map<string, Viewer>()
  readonly #formats = new Map<string, StreamFormat>()
  readonly #viewerConditions = new Conditions<Viewer>()
  readonly #sourceConditions = new Conditions<Subject>()
  readonly #expiries = new Map<Viewer, Cancel>()
  /** The transaction that is being tried. */
  #underWay: UnderWay | undefined
  #isEnded = false

  constructor(options: StreamsOptions) {
    this.#options = options
    this.#paged = new PagedStreams(options)
    this.#tailer = new Tailer({
      store: options.store,
      timers: options.timers,
      clock: options.clock,
      handle: (committed, transaction, waiting) => this.#handle(committed, transaction, waiting),
      onFailure: error => {
        for (const stream of this.#open) stream.end(streamEnds.failed)
        options.onInternalError(error)
      },
    })
  }

  open({ nextPage, order, session }: StreamOpening): EventStream {
    const { subject: target } = order
    const format = order.kind === 'pushed' ? this.#shared(order.format) : undefined
    const wording = order.kind === 'pushed' ? order.format : order.wording
    const id = String(BigInt(`0x${this.#options.random.hex(8)}`) >> 1n)
    if (this.#isEnded) return refusedStream(id, wording, streamEnds.alreadyClosed)
    if (this.#open.size >= this.#options.openMax) return refusedStream(id, wording, streamEnds.tooMany)
    const { transaction } = session
    const terms = viewerTerms(session)
    const origin = {
      subject: this.#subjects.obtain(target, transaction),
      viewer: this.#viewers.get(terms.key) ?? new Viewer(terms),
      wording,
      ...(format && { format }),
      start: order.kind === 'pushed' ? transaction.lastCommitTime : order.place.time,
    }
    const stream = new OpenStream(id, origin, ended => this.#release(ended))
    this.#register(stream, transaction)
    if (order.kind === 'paged') this.#paged.add(stream, order, nextPage)
    else origin.subject.streams.add(stream)
    return stream
  }

  end(): void {
    this.#isEnded = true
    for (const stream of this.#open) stream.end(streamEnds.sourceClosed)
  }

  /** The same object for all streams that agree in it, so that an event is rendered once for them. */
  #shared(format: StreamFormat): StreamFormat {
    const known = this.#formats.get(format.key)
    if (known !== undefined) return known
    this.#formats.set(format.key, format)
    return format
  }

  #register(stream: OpenStream, transaction: Transaction): void {
    const { viewer, subject } = stream.origin
    this.#open.add(stream)
    if (viewer.streams.size === 0) this.#begin(viewer)
    viewer.streams.add(stream)
    if (subject.isIdle) {
      this.#sourceConditions.add(subject, sourceConditions(sourceOf(subject.target), transaction))
    }
    if (!this.#tailer.isRunning) this.#tailer.start(transaction.lastCommitTime)
  }

  #begin(viewer: Viewer): void {
    const { key, conditions } = viewer.terms
    this.#viewers.set(key, viewer)
    this.#viewerConditions.add(viewer, conditions)
    this.#awaitExpiry(viewer)
  }

  /** A silent stream ends too when its credential does. */
  #awaitExpiry(viewer: Viewer): void {
    const { expires } = viewer.terms
    if (expires === endOfTime) return
    const { clock, timers } = this.#options
    const leftMs = Math.ceil((expires - clock.now()) / 1000)
    // Looked at again and again, because the clock may be set forward meanwhile.
    const ms = Math.max(0, Math.min(leftMs, expiryLookMs))
    const check = () => {
      const now = clock.now()
      if (now >= expires) this.#lose(viewer, now)
      else this.#awaitExpiry(viewer)
    }
    this.#expiries.set(viewer, timers.after(ms, check))
  }

  #lose(viewer: Viewer, txn: Micros): void {
    for (const stream of viewer.streams) stream.end(rightsLost(txn))
  }

  #release(stream: OpenStream): void {
    if (!this.#open.delete(stream)) return
    const { viewer, subject } = stream.origin
    viewer.streams.delete(stream)
    if (viewer.streams.size === 0) this.#forget(viewer)
    subject.streams.delete(stream)
    this.#paged.release(stream)
    if (subject.isIdle) {
      this.#sourceConditions.remove(subject)
      this.#subjects.drop(subject)
    }
    if (this.#open.size > 0) return
    this.#formats.clear()
    this.#tailer.stop()
  }

  #forget(viewer: Viewer): void {
    this.#viewers.delete(viewer.terms.key)
    this.#viewerConditions.remove(viewer)
    this.#expiries.get(viewer)?.()
    this.#expiries.delete(viewer)
  }

  #handle(committed: CommittedTransaction, transaction: Transaction, waiting: Waiting): Handled {
    const { time } = committed
    const outcome = this.#outcomeOf(committed, transaction, waiting)
    this.#underWay = undefined
    const work = handOut(outcome, time)
    const events = outcome.deliveries.reduce((most, [, lines]) => Math.max(most, lines.length), 0)
    return { events, handOut: () => hasMore(work) }
  }

  #outcomeOf({ changes, time }: CommittedTransaction, transaction: Transaction, waiting: Waiting): Outcome {
    const lost = this.#viewerConditions.brokenBy(changes)
    for (const viewer of lost) if (viewer.terms.since >= time) lost.delete(viewer)
    const deliveries: [OpenStream, readonly Uint8Array[]][] = []
    const readers: Reader[] = []
    const { host } = this.#options
    const past = transaction.asOf(time)
    const deadline = host.now() + limits.streamBatchMs * 1000
    const before = transaction.asOf(micros(time - 1))
    const audience = new Audience({ host, transaction: past, before, deadline, ...waiting })
    let steps = 0
    const beforeStep = () => {
      if (steps++ > 0 && waiting.isTurnOver()) throw new TurnOver()
    }
    const reading = { audience, transaction, beforeStep }
    const { found, lines: known } = this.#soFar(waiting, changes, time, reading)
    for (const [subject, events] of found) {
      const lines = known.get(subject) ?? new Lines(subject, events, time)
      known.set(subject, lines)
      readers.push(...subject.readers)
      for (const stream of subject.streams) {
        const { viewer, start, format } = stream.origin
        if (format === undefined || start >= time || lost.has(viewer)) continue
        if (viewer.terms.expires <= time) {
          lost.add(viewer)
          continue
        }
        const own = lines.of(viewer, format, reading)
        if (own.length > 0) deliveries.push([stream, own])
      }
    }
    return { readers, lost, deliveries, closed: this.#sourceConditions.brokenBy(changes) }
  }

  /** What earlier tries of the same transaction have found out, with all events for each subject it concerns. */
  #soFar(
    { memo }: Waiting,
    changes: readonly Change[],
    time: Micros,
    { beforeStep, transaction }: { beforeStep: () => void; transaction: Transaction },
  ): UnderWay {
    if (this.#underWay?.memo !== memo) {
      this.#underWay = { memo, changesSeen: 0, found: new Map(), lines: new Map() }
    }
    const soFar = this.#underWay
    for (const change of changes.slice(soFar.changesSeen)) {
      beforeStep()
      this.#subjects.addEventsOf(change, time, transaction, soFar.found)
      soFar.changesSeen++
    }
    return soFar
  }
}

/** Tells the streams what a transaction means to them, one after the other; yields how many bytes it has handed out. */
function* handOut(
  { closed, deliveries, lost, readers }: Outcome,
  time: Micros,
): Generator<number, void, void> {
  for (const viewer of lost) {
    for (const stream of [...viewer.streams]) {
      stream.end(rightsLost(time))
      yield 0
    }
  }
  for (const [stream, lines] of deliveries) {
    yield stream.deliver(lines)
  }
  for (const reader of readers) reader.wake()
  for (const subject of closed) {
    for (const reader of [...subject.readers]) reader.close()
    for (const stream of [...subject.streams]) {
      if (stream.origin.start < time) stream.end(streamEnds.sourceClosed)
      yield 0
    }
  }
}
