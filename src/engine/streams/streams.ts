// All event streams of a process.
//
// Each committed transaction is handled in two phases. The first determines which events each stream gets and which
// streams end; the second sends the events and ends these streams. If a predicate of a role has to wait, the first
// phase is tried again later. Both phases are split into short pieces, so that other work can run in between.
//
// Streams share work: events are created once for each subject (a document or a set), access is decided once for each
// viewer (all callers with the same rights), and events are rendered once for each format. Therefore many streams of
// one document cost little more than one.

import { MemoryBudget, type Share } from '../../base/admission/memory-budget.ts'
import type { Clock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import { endOfTime, micros } from '../../base/micros.ts'
import type { Memo } from '../../base/pending.ts'
import type { Random } from '../../base/random.ts'
import type { Cancel, Timers } from '../../base/timers.ts'
import { upsert } from '../../base/upsert.ts'
import type { SessionHost } from '../../model/session.ts'
import type { StreamEvent, StreamFormat } from '../../model/streaming.ts'
import type { Store } from '../../storage/store/store.ts'
import type { Change, CommittedTransaction, Transaction } from '../../storage/store/store-contract.ts'
import { type Micros, refKey } from '../../values/value.ts'
import { budgetOwnerOf } from '../callers.ts'
import type { EventStream } from '../engine-contract.ts'
import type { StreamOpener, StreamOpening } from '../engine-options.ts'
import { Audience, EventFormatter } from './audience.ts'
import {
  type Condition,
  expiryOf,
  OpenStream,
  type Reader,
  rejectedStream,
  rightsLost,
  type Subject,
  sourceConditions,
  streamEnds,
  Viewer,
  viewerRights,
} from './open-stream.ts'
import { advance, PagedStreams } from './page-reader.ts'
import { Subjects, sourceOf } from './subject.ts'
import { Tailer, type TransactionEvents, TurnOver, type WaitOptions } from './tailer.ts'

interface StreamsOptions {
  readonly store: Store
  readonly host: SessionHost
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  /** Open streams of all owners together. */
  readonly openMax: number
  readonly onInternalError: (error: unknown) => void
}

/** Effects of one transaction on the open streams. */
interface Outcome {
  /** Readers of paged streams whose subjects have changed. */
  readonly readers: readonly Reader[]
  /** Viewers that have lost their rights. */
  readonly lost: ReadonlySet<Viewer>
  readonly deliveries: readonly (readonly [OpenStream, readonly Uint8Array[]])[]
  /** Subjects whose collection, index or database was deleted. */
  readonly closed: ReadonlySet<Subject>
}

/** Results so far for a transaction whose first phase has not finished. */
interface PartialResults {
  /** Identifies the transaction, because each transaction has a separate memo. */
  readonly memo: Memo
  changesSeen: number
  /** The remaining work for the first change that is not seen. */
  changeWork: Iterator<void> | undefined
  readonly found: Map<Subject, StreamEvent[]>
  readonly formatters: Map<Subject, EventFormatter>
}

/**
 * At the limit, streams are ended until at most this part of the limit is open. Ending several at once is cheaper,
 * because each search goes through all streams of an owner.
 */
const openLowWater = 0.99

/** Milliseconds between two checks for expired rights. */
const expiryCheckMs = 60_000

export class Streams implements StreamOpener {
  readonly #options: StreamsOptions
  readonly #tailer: Tailer
  readonly #open = new Map<OpenStream, Share>()
  /** Open streams of each owner. At the limit, the owner with the most streams loses its oldest. */
  readonly #counts: MemoryBudget
  readonly #paged: PagedStreams
  readonly #subjects = new Subjects()
  readonly #viewers = new Map<string, Viewer>()
  readonly #formats = new Map<string, StreamFormat>()
  readonly #viewerConditions = new Conditions<Viewer>()
  readonly #sourceConditions = new Conditions<Subject>()
  readonly #expiries = new Map<Viewer, Cancel>()
  #partial: PartialResults | undefined
  #isEnded = false

  constructor(options: StreamsOptions) {
    this.#options = options
    this.#counts = new MemoryBudget({ max: options.openMax, lowWater: openLowWater })
    this.#paged = new PagedStreams(options)
    this.#tailer = new Tailer({
      store: options.store,
      timers: options.timers,
      clock: options.clock,
      handle: (committed, transaction, waiting) => this.#handle(committed, transaction, waiting),
      onFailure: error => {
        for (const stream of this.#open.keys()) stream.end(streamEnds.failed)
        options.onInternalError(error)
      },
    })
  }

  open({ address, nextPage, order, session }: StreamOpening): EventStream {
    const { subject: target } = order
    const format = order.kind === 'pushed' ? this.#shared(order.format) : undefined
    const wording = order.kind === 'pushed' ? order.format : order.wording
    // 63 bits: a positive signed 64-bit integer.
    const id = String(BigInt(`0x${this.#options.random.hex(8)}`) >> 1n)
    if (this.#isEnded) return rejectedStream(id, wording, streamEnds.alreadyClosed)
    const owner = budgetOwnerOf(session.caller, address)
    if (!this.#counts.admits(owner, 1)) return rejectedStream(id, wording, streamEnds.tooMany)
    const { transaction } = session
    const rights = viewerRights(session)
    const origin = {
      subject: this.#subjects.obtain(target, transaction),
      viewer: this.#viewers.get(rights.key) ?? new Viewer(rights),
      wording,
      ...(format && { format }),
      start: order.kind === 'pushed' ? transaction.lastCommitTime : order.place.time,
    }
    // The next change of the identity may be waiting for the tailer, so an earlier expiry is applied here.
    origin.viewer.expires = Math.min(origin.viewer.expires, expiryOf(session.caller, transaction))
    const stream = new OpenStream(id, origin, ended => this.#release(ended))
    this.#open.set(
      stream,
      this.#counts.open(owner, () => stream.end(streamEnds.tooMany)),
    )
    this.#register(stream, transaction)
    // The stream is counted after its registration, because this call ends streams at the limit.
    this.#open.get(stream)?.grow(1)
    if (order.kind === 'paged') this.#paged.add(stream, order, nextPage)
    else origin.subject.streams.add(stream)
    return stream
  }

  end(): void {
    this.#isEnded = true
    for (const stream of this.#open.keys()) stream.end(streamEnds.sourceClosed)
  }

  /** Equal formats become the same object, so that their streams share rendered events. */
  #shared(format: StreamFormat): StreamFormat {
    return upsert(this.#formats, format.key, () => format)
  }

  #register(stream: OpenStream, transaction: Transaction): void {
    const { viewer, subject } = stream.origin
    if (viewer.streams.size === 0) this.#begin(viewer)
    this.#awaitExpiry(viewer)
    viewer.streams.add(stream)
    if (subject.isIdle) {
      this.#sourceConditions.add(subject, sourceConditions(sourceOf(subject.target), transaction))
    }
    if (!this.#tailer.isRunning) this.#tailer.start(transaction.lastCommitTime)
  }

  #begin(viewer: Viewer): void {
    const { key, conditions } = viewer.rights
    this.#viewers.set(key, viewer)
    this.#viewerConditions.add(viewer, conditions)
  }

  /** Ends the viewer's streams when its rights expire, even if the streams have no events. */
  #awaitExpiry(viewer: Viewer): void {
    this.#expiries.get(viewer)?.()
    this.#expiries.delete(viewer)
    const { expires } = viewer
    if (expires === endOfTime) return
    const { clock, timers } = this.#options
    const remainingMs = Math.ceil((expires - clock.now()) / 1000)
    // The expiry is checked repeatedly, because the system clock may be set forward while the timer runs.
    const ms = Math.max(0, Math.min(remainingMs, expiryCheckMs))
    const check = () => {
      const now = clock.now()
      if (now >= expires) this.#endExpiredStreams(viewer, now)
      else this.#awaitExpiry(viewer)
    }
    this.#expiries.set(viewer, timers.after(ms, check))
  }

  #endExpiredStreams(viewer: Viewer, txn: Micros): void {
    for (const stream of viewer.streams) stream.end(rightsLost(txn))
  }

  #release(stream: OpenStream): void {
    const share = this.#open.get(stream)
    if (share === undefined) return
    this.#open.delete(stream)
    share.close()
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
    this.#viewers.delete(viewer.rights.key)
    this.#viewerConditions.remove(viewer)
    this.#expiries.get(viewer)?.()
    this.#expiries.delete(viewer)
  }

  #handle(
    committed: CommittedTransaction,
    transaction: Transaction,
    waiting: WaitOptions,
  ): TransactionEvents {
    const { time } = committed
    const outcome = this.#outcomeOf(committed, transaction, waiting)
    this.#partial = undefined
    const work = handOut(outcome, time)
    const events = outcome.deliveries.reduce((most, [, lines]) => Math.max(most, lines.length), 0)
    return { events, handOut: () => advance(work) }
  }

  #outcomeOf(
    { changes, time }: CommittedTransaction,
    transaction: Transaction,
    waiting: WaitOptions,
  ): Outcome {
    const lost = this.#viewerConditions.brokenBy(changes)
    for (const viewer of lost) if (viewer.rights.since >= time) lost.delete(viewer)
    for (const viewer of this.#viewerConditions.touchedBy(changes)) {
      viewer.expires = expiryOf(viewer.rights.caller, transaction)
      this.#awaitExpiry(viewer)
    }
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
    const { found, formatters } = this.#soFar(waiting, changes, time, reading)
    for (const [subject, events] of found) {
      const formatter = upsert(formatters, subject, () => new EventFormatter(subject, events, time))
      readers.push(...subject.readers)
      for (const stream of subject.streams) {
        const { viewer, start, format } = stream.origin
        if (format === undefined || start >= time || lost.has(viewer)) continue
        if (viewer.expires <= time) {
          lost.add(viewer)
          continue
        }
        const own = formatter.of(viewer, format, reading)
        if (own.length > 0) deliveries.push([stream, own])
      }
    }
    return { readers, lost, deliveries, closed: this.#sourceConditions.brokenBy(changes) }
  }

  /**
   * Returns the results of earlier tries of the same transaction, with the events of changes that these tries did not
   * reach.
   */
  #soFar(
    { memo }: WaitOptions,
    changes: readonly Change[],
    time: Micros,
    { beforeStep, transaction }: { beforeStep: () => void; transaction: Transaction },
  ): PartialResults {
    if (this.#partial?.memo !== memo) {
      this.#partial = { memo, changesSeen: 0, changeWork: undefined, found: new Map(), formatters: new Map() }
    }
    const soFar = this.#partial
    for (const change of changes.slice(soFar.changesSeen)) {
      soFar.changeWork ??= this.#subjects.addEventsOf(change, time, transaction, soFar.found)
      do beforeStep()
      while (soFar.changeWork.next().done !== true)
      soFar.changeWork = undefined
      soFar.changesSeen++
    }
    return soFar
  }
}

/** Sends the events and ends streams, one stream after the other. After each, yields the number of bytes sent to it. */
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

/** Finds the viewers or subjects whose streams end when a transaction changes documents. */
class Conditions<T> {
  readonly #conditions = new Map<T, readonly Condition[]>()
  readonly #dependents = new Map<string, Map<T, Condition>>()

  /** `dependent`: a viewer or subject whose streams end when a condition breaks. */
  add(dependent: T, conditions: readonly Condition[]): void {
    this.#conditions.set(dependent, conditions)
    for (const condition of conditions) {
      const dependents = upsert(this.#dependents, refKey(condition.document), () => new Map())
      dependents.set(dependent, condition)
    }
  }

  remove(dependent: T): void {
    for (const { document } of this.#conditions.get(dependent) ?? []) {
      const key = refKey(document)
      const present = this.#dependents.get(key)
      present?.delete(dependent)
      if (present?.size === 0) this.#dependents.delete(key)
    }
    this.#conditions.delete(dependent)
  }

  /**
   * A condition with `onDeleteOnly` breaks when its document is deleted; every other condition breaks when its document
   * changes.
   */
  brokenBy(changes: readonly Change[]): Set<T> {
    return this.#dependentsOn(changes, true)
  }

  /** Dependents with a condition whose document has changed without breaking the condition. */
  touchedBy(changes: readonly Change[]): Set<T> {
    return this.#dependentsOn(changes, false)
  }

  #dependentsOn(changes: readonly Change[], broken: boolean): Set<T> {
    const found = new Set<T>()
    if (this.#dependents.size === 0) return found
    for (const { ref, action } of changes) {
      for (const [dependent, { onDeleteOnly }] of this.#dependents.get(refKey(ref)) ?? []) {
        if ((!onDeleteOnly || action === 'delete') === broken) found.add(dependent)
      }
    }
    return found
  }
}
