// Events of histories as queries see them.

import type { SetEvent } from '../../model/sets/history.ts'
import { EventValue } from '../values/event.ts'

/** An event as queries see it. */
export function eventValue({ ts, action, document, values, fields }: SetEvent): EventValue {
  return new EventValue(ts, action, document, fields, values.length === 0 ? undefined : values)
}

/** An event as a cursor: all of it but a document's data. */
export function eventCursor(event: SetEvent): EventValue {
  return eventValue({ ...event, fields: null })
}
