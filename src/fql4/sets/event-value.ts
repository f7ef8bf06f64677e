// Converts events of histories to values of queries.

import type { SetEvent } from '../../model/sets/history.ts'
import { EventValue } from '../values/event.ts'

/** An event as a value. */
export function eventValue({ ts, action, document, values, fields }: SetEvent): EventValue {
  return new EventValue(ts, action, document, fields, values.length === 0 ? undefined : values)
}

/** An event as a cursor: without the data of a document. */
export function eventCursor(event: SetEvent): EventValue {
  return eventValue({ ...event, fields: null })
}
