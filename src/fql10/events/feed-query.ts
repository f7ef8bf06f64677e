// Evaluates pages of events as queries, with the same time limits and the same slow lane.

import { limits } from '../../base/limits.ts'
import type { Query, RenderedResponse } from '../../model/language.ts'
import type { Session } from '../../model/session.ts'
import type { ChangeSource } from '../../model/source-changes.ts'
import type { Value as Stored } from '../../values/value.ts'
import { statsText } from './event-costs.ts'
import { type EventPage, readEvents } from './event-page.ts'
import { type EventRequest, startOf } from './event-request.ts'
import { placeText } from './place-text.ts'

/** A page of events with a maximum size and a response format. */
export abstract class EventPageQuery implements Query {
  readonly effect = 'read'
  readonly #request: EventRequest

  constructor(request: EventRequest) {
    this.#request = request
  }

  /** UTF-16 units of text after which no event is added. */
  abstract readonly unitsMax: number
  /** The share of the request's time after which an incomplete page is returned. */
  abstract readonly usedShare: number
  /** The body of the response. */
  abstract render(page: EventPage, source: ChangeSource): string

  evaluate(session: Session): RenderedResponse {
    const { opened, behind } = startOf(this.#request, 'feed', session)
    const now = session.host.now()
    const until = now + (session.deadline - now) * this.usedShare
    const bounds = { size: this.#request.pageSize, unitsMax: this.unitsMax, until }
    return { status: 200, body: this.render(readEvents(opened, behind, bounds, session), opened.source) }
  }

  value(session: Session): Stored {
    return this.evaluate(session).body
  }
}

/** A page of a feed. */
export class FeedQuery extends EventPageQuery {
  readonly unitsMax = limits.feedPageUnitsMax
  readonly usedShare = 0.95

  render({ costs, events, hasNext, place }: EventPage): string {
    const texts = events.map(({ text }) => text).join(',')
    const cursor = placeText(place)
    return `{"events":[${texts}],"cursor":"${cursor}","has_next":${hasNext},"stats":${statsText(costs)}}`
  }
}
