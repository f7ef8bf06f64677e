// Reads pages of events. For each change, the document is read as of the transaction's time and, if the event depends on
// the earlier state, as of the time before the transaction.

import { step } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import { nearestMicros } from '../../base/micros.ts'
import { RequestError } from '../../base/request-errors.ts'
import type { Session } from '../../model/session.ts'
import { areComplete, type SourceChange, sourceChanges } from '../../model/source-changes.ts'
import { quoteJson } from '../../values/json-text.ts'
import { formatMicros } from '../../values/time.ts'
import type { Call } from '../call.ts'
import { equalElements } from '../comparison.ts'
import { QueryFailure } from '../failure/query-failure.ts'
import { callAt } from '../sets/lazy-set.ts'
import { Doc, Id, isArray, isNull, isStruct, type Value, type WatchedPath } from '../value.ts'
import { costsBetween, type EventCosts, historyCosts, noCosts, statsText, sumOf } from './event-costs.ts'
import type { OpenedSource } from './event-request.ts'
import { type CostCounters, type EventSnapshot, EventSnapshots } from './event-snapshots.ts'
import { type EventPlace, placeText, wholeTransaction } from './token.ts'

interface PageBounds {
  readonly size: number
  /** If the text of the page has at least this many UTF-16 units, no further event is added. */
  readonly unitsMax: number
  /** When to return the page even if more events exist: microseconds of the clock `session.host.now()`. */
  readonly until: number
}

interface EventText {
  readonly place: EventPlace
  readonly text: string
  readonly isError: boolean
}

export interface EventPage {
  readonly events: readonly EventText[]
  readonly place: EventPlace
  readonly hasNext: boolean
  readonly costs: EventCosts
}

/** An element of the source, as of the time before or after a transaction. */
interface Element {
  readonly value: Value
  readonly snapshot: EventSnapshot
}

/** The event that a change causes. `error`: a filter or a mapping failed for the element. */
type Outcome =
  | { readonly type: 'add' | 'update' | 'remove'; readonly element: Element }
  | { readonly type: 'error'; readonly error: string }

/** Throws only errors that end the request; other errors become error events. */
export function readEvents(
  opened: OpenedSource,
  after: EventPlace,
  bounds: PageBounds,
  session: Session,
): EventPage {
  return new EventPageReader(opened, session).read(after, bounds)
}

class EventPageReader {
  readonly #opened: OpenedSource
  readonly #session: Session
  readonly #snapshots: EventSnapshots
  /** True if the source has no filters and no watched fields, and the caller may read all documents of the source. */
  readonly #isPlain: boolean
  readonly #events: EventText[] = []
  #units = 0
  /** The costs up to the end of the last call of `#addEvent`. */
  #spent: CostCounters
  /** The last change that was read, with or without an event. */
  #lastRead: EventPlace | undefined

  constructor(opened: OpenedSource, session: Session) {
    this.#opened = opened
    this.#session = session
    this.#snapshots = new EventSnapshots(session, opened.world, opened.call)
    const { steps, watched } = opened
    const isFiltered = watched !== undefined || steps.some(({ kind }) => kind === 'where')
    this.#isPlain = !isFiltered && !this.#snapshots.dependsOnState
    this.#spent = this.#snapshots.spent()
  }

  read(after: EventPlace, bounds: PageBounds): EventPage {
    const { source } = this.#opened
    const { transaction } = this.#session
    const history = historyCosts(source)
    const begin = this.#spent
    const page = (place: EventPlace, hasNext: boolean): EventPage => {
      const own = costsBetween(begin, this.#snapshots.spent())
      this.#snapshots.finish()
      this.#session.byteReadOps += history.readOps
      return { events: this.#events, place, hasNext, costs: sumOf(history, own) }
    }
    if (!areComplete(source, after.time, transaction)) {
      this.#events.push(this.#tooOld(after))
      return page(after, false)
    }
    for (const change of sourceChanges(source, after.time, transaction)) {
      const { ordinal, time } = change
      if (time === after.time && ordinal <= after.ordinal) continue
      if (this.#isOver(bounds)) return page(this.#lastRead ?? after, true)
      // An error event is the last event of its page.
      const isFull = this.#events.length >= bounds.size || this.#events.at(-1)?.isError === true
      if (isFull && this.#outcomeOf(change) !== undefined) {
        return page((this.#events.at(-1) as EventText).place, true)
      }
      if (!isFull) this.#addEvent(change)
      this.#lastRead = { time, ordinal }
    }
    // If the start place is later than the snapshot, the next page has the same start place. The client waits for
    // events after this place.
    const time = transaction.snapshotTime
    return page(time < after.time ? after : { time, ordinal: wholeTransaction }, false)
  }

  #isOver({ unitsMax, until }: PageBounds): boolean {
    if (this.#lastRead === undefined) return false
    const { computeUnits, micros } = this.#spent
    if (this.#units >= unitsMax || micros >= until) return true
    return computeUnits * 2 > limits.computeOpsMax * limits.computeUnitsPerOp
  }

  #addEvent(change: SourceChange): void {
    const before = this.#spent
    const outcome = this.#outcomeOf(change)
    const head = outcome && this.#headOf(outcome)
    this.#spent = this.#snapshots.spent()
    if (head === undefined) return
    const { ordinal, time } = change
    const place = { time, ordinal }
    const costs = costsBetween(before, this.#spent, this.#opened.source)
    const stats = `"stats":${statsText(costs)}`
    const isError = head.startsWith('"type":"error"')
    const cursor = isError ? '' : `"txn_ts":${time},"cursor":"${placeText(place)}",`
    const text = `{${head},${cursor}${stats}}`
    this.#units += text.length
    this.#events.push({ place, text, isError })
  }

  /** The first fields of an event as JSON text. Failed reads of further documents result in an error event. */
  #headOf(outcome: Outcome): string {
    if (outcome.type === 'error') return `"type":"error","error":${outcome.error}`
    const { element, type } = outcome
    const data = this.#caught(element.snapshot, () => element.snapshot.render(element.value))
    if (typeof data === 'string') return `"type":"${type}","data":${data}`
    return `"type":"error","error":${data.error}`
  }

  #outcomeOf(change: SourceChange): Outcome | undefined {
    const { document, isIn, time, wasIn } = change
    const now = this.#snapshots.at(time)
    const { watched } = this.#opened
    const after = isIn ? now.find(document) : undefined
    // If `#isPlain` is true, a change to a document that exists before and after the transaction is always an update.
    // So the state before the transaction is not read.
    if (after !== undefined && wasIn && this.#isPlain)
      return this.#caught(now, (): Outcome | undefined => {
        const element = this.#elementOf(after, now)
        return element && { type: 'update', element }
      })
    const then = this.#snapshots.at(nearestMicros(time - 1))
    const before = wasIn ? then.find(document) : undefined
    if (before === undefined && after === undefined) return undefined
    return this.#caught(now, (): Outcome | undefined => {
      if (watched !== undefined && !watchedChange(watched, before && [before, then], after && [after, now]))
        return undefined
      const element = after && this.#elementOf(after, now)
      const previous = before && this.#elementOf(before, then)
      if (element !== undefined) return { type: previous === undefined ? 'add' : 'update', element }
      return previous && { type: 'remove', element: previous }
    })
  }

  /** Returns undefined if a step of the source filters the document out. */
  #elementOf(document: Value, snapshot: EventSnapshot): Element | undefined {
    let value = document
    for (const { apply, kind, origin } of this.#opened.steps) {
      const call = callAt(origin, snapshot.call).reading(snapshot.call)
      if (kind === 'map') value = call.apply(apply, value)
      else if (!call.test(apply, value)) return undefined
    }
    return { value, snapshot }
  }

  /** If `work` fails, the result is an error event. */
  #caught<T>(snapshot: EventSnapshot, work: () => T): T | { readonly type: 'error'; readonly error: string } {
    try {
      return work()
    } catch (error) {
      if (error instanceof RequestError && error.code === 'bad request') {
        return { type: 'error', error: errorText('invalid_request', error.description) }
      }
      if (!(error instanceof QueryFailure)) throw error
      const abort = error.abort === undefined ? undefined : snapshot.render(error.abort.value)
      return { type: 'error', error: errorText(error.code, error.message, abort) }
    }
  }

  #tooOld(place: EventPlace): EventText {
    const time = formatMicros(place.time)
    const message = `Stream start time ${time} is too far in the past. Recreate the stream and try again.`
    const text = errorEvent('invalid_stream_start_time', message)
    return { place, text, isError: true }
  }
}

function errorText(code: string, message: string, abort?: string): string {
  const aborted = abort === undefined ? '' : `,"abort":${abort}`
  return `{"code":"${code}","message":${quoteJson(message)}${aborted}}`
}

/** Renders an error event that concerns no document. */
export function errorEvent(code: string, message: string): string {
  return `{"type":"error","error":${errorText(code, message)},"stats":${statsText(noCosts)}}`
}

/** A document as of a snapshot. Undefined if the document does not exist at this time or is not in the source. */
type DocumentState = readonly [document: Doc, snapshot: EventSnapshot] | undefined

/** A new document must have a watched field, an update must change one, and a removed document must have had all. */
function watchedChange(
  watched: readonly WatchedPath[],
  before: DocumentState,
  after: DocumentState,
): boolean {
  if (before === undefined) return watched.some(path => valueAt(path, after) !== undefined)
  if (after === undefined) return watched.every(path => valueAt(path, before) !== undefined)
  return watched.some(path => {
    const [old, next] = [valueAt(path, before), valueAt(path, after)]
    return old === undefined || next === undefined ? old !== next : !equalElements(old, next)
  })
}

function valueAt(path: WatchedPath, state: DocumentState): Value | undefined {
  if (state === undefined) return undefined
  const [document, { call }] = state
  let value: Value | undefined = document
  for (const part of path) {
    step()
    value = value === undefined ? undefined : partOf(value, part, call)
  }
  return value === undefined || isNull(value) ? undefined : value
}

function partOf(value: Value, part: string | bigint, call: Call): Value | undefined {
  if (typeof part === 'bigint') return isArray(value) ? value[Number(part)] : undefined
  if (isStruct(value)) return value.get(part)
  if (!(value instanceof Doc)) return undefined
  if (part === 'id') return new Id(value.ref.id)
  const { world } = call.evaluation
  return world.documents.absence(value, call) === undefined
    ? world.documents.field(value, part, call)
    : undefined
}
