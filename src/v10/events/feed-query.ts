// A page of a feed as a query: evaluated, moved to the slow lane and limited as every query is.

import { limits } from '../../limits.ts'
import type { Query, Rendered } from '../../model/language.ts'
import type { Session } from '../../model/session.ts'
import type { Value as Stored } from '../../values/value.ts'
import { statsText } from './event-costs.ts'
import { readEvents } from './event-page.ts'
import { type EventRequest, startOf } from './event-request.ts'
import { placeText } from './place-text.ts'

/** The part of the time of a request after which a page is sent as it is. */
const usedShare = 0.95

/** One page. */
export class FeedQuery implements Query {
  readonly effect = 'read'
  readonly #request: EventRequest

  constructor(request: EventRequest) {
    this.#request = request
  }

  evaluate(session: Session): Rendered {
    const { opened, behind } = startOf(this.#request, 'feed', session)
    const now = session.host.now()
    const { costs, events, hasNext, place } = readEvents(
      opened,
      behind,
      {
        size: this.#request.pageSize,
        unitsMax: limits.feedPageUnitsMax,
        until: now + (session.deadline - now) * usedShare,
      },
      session,
    )
    const told = events.map(({ text }) => text).join(',')
    const cursor = placeText(place)
    const body = `{"events":[${told}],"cursor":"${cursor}","has_next":${hasNext},"stats":${statsText(costs)}}`
    return { status: 200, body }
  }

  value(session: Session): Stored {
    return this.evaluate(session).body
  }
}
