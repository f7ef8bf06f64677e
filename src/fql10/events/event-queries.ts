// Runs feeds and streams as queries of the engine, with the same time limits and the same slow lane (processes for long
// queries). For a stream, this file also gives the engine the changes to watch, and functions that format pages and
// status lines. Each page of a stream is a separate request, which decodes and checks the event source again.

import { epoch } from '../../base/micros.ts'
import type { LanguageRequest, Query, RenderedResponse } from '../../model/language.ts'
import type { Session } from '../../model/session.ts'
import type { ChangeSource } from '../../model/source-changes.ts'
import type { PagedOrder, StreamEnd, StreamPage, StreamPlace, StreamSubject } from '../../model/streaming.ts'
import { encodeValue } from '../../storage/keys/value-codec.ts'
import type { Micros, Value as Stored } from '../../values/value.ts'
import { type EventCosts, historyCosts, statsText } from './event-costs.ts'
import { type EventPage, errorEvent, readEvents } from './event-page.ts'
import { type EventRequest, readEventRequest, startOf } from './event-request.ts'
import { placeText, type SourceToken, wholeTransaction } from './token.ts'

const eventQueriesLimits = {
  /** Number of UTF-16 units after which a page of a stream gets no further event; own limit. */
  streamPageUnitsMax: 1_048_576,
  /** Number of UTF-16 units after which a page of a feed gets no further event; own limit. */
  feedPageUnitsMax: 16_777_216,
} as const

/** Subclasses define the limits of the page and the format of the response. */
abstract class EventPageQuery implements Query {
  readonly effect = 'read'
  readonly #request: EventRequest
  abstract readonly endpoint: 'feed' | 'page'

  constructor(request: EventRequest) {
    this.#request = request
  }

  abstract readonly unitsMax: number
  /** After this fraction of the request's remaining time, the page is returned even if more events exist. */
  abstract readonly usedShare: number
  abstract render(page: EventPage, source: ChangeSource): string

  evaluate(session: Session): RenderedResponse {
    const { opened, after } = startOf(this.#request, this.endpoint, session)
    const now = session.host.now()
    const until = now + (session.deadline - now) * this.usedShare
    const bounds = { size: this.#request.pageSize, unitsMax: this.unitsMax, until }
    return { status: 200, body: this.render(readEvents(opened, after, bounds, session), opened.source) }
  }

  value(session: Session): Stored {
    return this.evaluate(session).body
  }
}

export class FeedQuery extends EventPageQuery {
  readonly endpoint = 'feed'
  readonly unitsMax = eventQueriesLimits.feedPageUnitsMax
  readonly usedShare = 0.95

  render({ costs, events, hasNext, place }: EventPage): string {
    const texts = events.map(({ text }) => text).join(',')
    const cursor = placeText(place)
    return `{"events":[${texts}],"cursor":"${cursor}","has_next":${hasNext},"stats":${statsText(costs)}}`
  }
}

const lineEnd = '\r\n'

/** Throws `bad request`. */
export function eventStreamOrder({ body }: LanguageRequest, session: Session): PagedOrder {
  const request = readEventRequest(body, 'stream')
  const { after, opened, token } = startOf(request, 'stream', session)
  const { source } = opened
  return {
    kind: 'paged',
    subject: subjectOf(source),
    key: keyOf(token),
    place: after,
    wording: {
      start: time => statusLine(time, placeText(after), historyCosts(source)),
      end: lastLine,
    },
    request: (place, size) =>
      JSON.stringify({ token: request.token, cursor: placeText(place), page_size: size }),
    read: readPage,
    status: (place, costs) => statusLine(place.time, placeText(place), costsOf(costs)),
  }
}

function subjectOf(source: ChangeSource): StreamSubject {
  switch (source.kind) {
    case 'collection':
      return { kind: 'writes', collection: source.collection }
    case 'document':
      return { kind: 'document', ref: source.document }
    case 'index':
      return { kind: 'match', index: source.index.ref, terms: source.terms }
  }
}

/** Tokens that differ only in their creation times have the same key. */
function keyOf({ database, source }: SourceToken): string {
  return Buffer.from(encodeValue([database, source], epoch)).toString('base64')
}

function lastLine({ cause, description }: StreamEnd): string {
  const line = (code: string, message: string) => `${errorEvent(code, message)}${lineEnd}`
  switch (cause) {
    case 'rights lost':
      return line('permission_loss', 'Stream authentication is no longer valid.')
    case 'not read':
      return line('stream_overflow', 'Too many events to process.')
    case 'replay too long': {
      const message = 'Too many events to replay. Recreate the stream and try again.'
      return line('stream_replay_volume_exceeded', message)
    }
    case 'too many streams':
      return line('limit_exceeded', description)
    case 'failed':
      return line('internal_error', description)
    case 'source gone':
      return ''
  }
}

function statusLine(time: Micros, cursor: string, costs: EventCosts): string {
  return `{"type":"status","txn_ts":${time},"cursor":"${cursor}","stats":${statsText(costs)}}${lineEnd}`
}

function costsOf([readOps = 0, bytesRead = 0, computeUnits = 0, timeMs = 0]: readonly number[]): EventCosts {
  return { readOps, bytesRead, computeUnits, timeMs }
}

/** Only the service itself sends this request. */
export class StreamPageQuery extends EventPageQuery {
  readonly endpoint = 'page'
  readonly unitsMax = eventQueriesLimits.streamPageUnitsMax
  readonly usedShare = 0.5

  render({ costs, events, hasNext, place }: EventPage, source: ChangeSource): string {
    const { bytesRead, computeUnits, readOps, timeMs } = costs
    // The first status event of the stream has reported the costs of the search, so pages leave these costs out.
    const searchOps = historyCosts(source).readOps
    const isOver = events.at(-1)?.isError === true
    const head = {
      places: events.map(event => [event.place.time, event.place.ordinal]),
      place: [place.time, place.ordinal],
      hasNext: hasNext && !isOver,
      isOver,
      costs: [readOps - searchOps, bytesRead, computeUnits, timeMs],
    }
    // The JSON text of an event contains no newline, so newlines can separate the events.
    return [JSON.stringify(head), ...events.map(({ text }) => text)].join('\n')
  }
}

type Pair = readonly [time: Micros, ordinal: number]

function placeOf([time, ordinal]: Pair): StreamPlace {
  return { time, ordinal }
}

function readPage(body: string): StreamPage {
  const [first = '{}', ...texts] = body.split('\n')
  // The cast is safe, because `StreamPageQuery.render` wrote this text.
  const head = JSON.parse(first) as {
    readonly places: readonly Pair[]
    readonly place: Pair
    readonly hasNext: boolean
    readonly isOver: boolean
    readonly costs: readonly number[]
  }
  const lines = texts.map((text, index) => ({
    place: placeOf(head.places[index] ?? [epoch, wholeTransaction]),
    text: `${text}${lineEnd}`,
  }))
  return { ...head, lines, place: placeOf(head.place) }
}
