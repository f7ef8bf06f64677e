// How much history counts. Reads before a collection's minimum valid time are refused, versions and events at or
// below it no longer show, and the sweeper removes what can no longer be seen.

import { microsPerDay } from '../../base/durations.ts'
import { RequestError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { epoch, micros } from '../../base/micros.ts'
import { formatTime, timeFromMicros } from '../../values/time.ts'
import { type CollectionId, firstUserCollection, type Micros, native, unlisted } from '../../values/value.ts'
import type { StoredCollection } from './definitions.ts'

/** How long the change log is kept, in microseconds: streams and caches never lag that far behind. */
export const changeLogMicros: number = microsPerDay

/** Keys, tokens, credentials and files of schemas keep no history, schema objects keep all of it. */
export const shortNatives: ReadonlySet<CollectionId> = new Set([
  native.keys,
  native.tokens,
  native.credentials,
  ...Object.values(unlisted),
])

/** The history a collection gives up when it is written now: what `history_days` does not reach stays out of reach. */
export function historyFloor(
  collection: Pick<StoredCollection, 'historyDays' | 'historyFloor'>,
  now: Micros,
): Micros {
  const { historyDays, historyFloor: floor } = collection
  return historyDays === undefined ? micros(floor) : micros(Math.max(floor, now - historyDays * microsPerDay))
}

/** The oldest time at which reads of a collection are exact. `definition` is undefined for one that is gone. */
export function minimumValidTime(
  collection: CollectionId,
  definition: StoredCollection | undefined,
  now: Micros,
): Micros {
  if (collection < firstUserCollection) {
    return shortNatives.has(collection) ? micros(Math.max(0, now - limits.historyGraceMicros)) : epoch
  }
  if (definition === undefined) return epoch
  return micros(Math.max(0, historyFloor(definition, now) - limits.historyGraceMicros))
}

/**
 * When the minimum valid time of a collection reaches `time`, as long as its definition stays as it is: 0 when it has
 * done so already, infinity for never. The inverse of {@link minimumValidTime}.
 */
export function fallsOutAt(
  collection: CollectionId,
  definition: StoredCollection | undefined,
  time: Micros,
): number {
  const { historyGraceMicros } = limits
  if (collection < firstUserCollection) {
    return shortNatives.has(collection) ? time + historyGraceMicros : Number.POSITIVE_INFINITY
  }
  if (definition === undefined) return Number.POSITIVE_INFINITY
  const { historyDays, historyFloor: floor } = definition
  if (time <= floor - historyGraceMicros) return 0
  return historyDays === undefined
    ? Number.POSITIVE_INFINITY
    : time + historyDays * microsPerDay + historyGraceMicros
}

/** Refuses a read at a time whose history is no longer kept. */
export function checkValidTime(at: number, minimum: Micros): void {
  if (at >= minimum) return
  throw new RequestError(
    'bad request',
    msg`Requested timestamp ${isoTime(at)} less than minimum allowed timestamp ${isoTime(minimum)}.`,
  )
}

/** Queries may ask for times that are far beyond those of the platform. */
function isoTime(time: number): string {
  return formatTime(timeFromMicros(BigInt(time)))
}
