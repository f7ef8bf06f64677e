// The minimum valid time of a collection is the start of its retained history. Reads at an earlier time are rejected,
// and versions and events up to this time are not returned. The sweeper (sweeper.ts) removes older data, which no read
// can return.

import { msg } from '../../base/message.ts'
import { epoch, micros, microsPerDay } from '../../base/micros.ts'
import { RequestError } from '../../base/request-errors.ts'
import { formatMicros } from '../../values/time.ts'
import { type CollectionId, firstUserCollection, type Micros, native, unlisted } from '../../values/value.ts'
import type { StoredCollection } from './definitions.ts'

export const retentionLimits = {
  /** Microseconds of history that are retained in addition to `history_days`. */
  historyGraceMicros: 15 * 60 * 1_000_000,
} as const

/** Microseconds for which the change log is retained. Streams and caches never read older rows. */
export const changeLogMicros: number = microsPerDay

/**
 * The native collections whose history is retained only for `historyGraceMicros`. The history of schema objects is
 * retained forever.
 */
export const shortNatives: ReadonlySet<CollectionId> = new Set([
  native.keys,
  native.tokens,
  native.credentials,
  ...Object.values(unlisted),
])

/**
 * The start of a collection's history according to `history_days`. Each write of a collection's definition stores this
 * time (`historyFloor`), so older history stays unreadable even if `history_days` is increased.
 */
export function historyFloor(
  collection: Pick<StoredCollection, 'historyDays' | 'historyFloor'>,
  now: Micros,
): Micros {
  const { historyDays, historyFloor: floor } = collection
  return historyDays === undefined ? micros(floor) : micros(Math.max(floor, now - historyDays * microsPerDay))
}

/** The oldest time at which a collection can be read. `definition`: undefined if it is deleted. */
export function minimumValidTime(
  collection: CollectionId,
  definition: StoredCollection | undefined,
  now: Micros,
): Micros {
  if (collection < firstUserCollection) {
    return shortNatives.has(collection)
      ? micros(Math.max(0, now - retentionLimits.historyGraceMicros))
      : epoch
  }
  if (definition === undefined) return epoch
  return micros(Math.max(0, historyFloor(definition, now) - retentionLimits.historyGraceMicros))
}

/**
 * The inverse of {@link minimumValidTime}: when `time` becomes the minimum valid time, if the definition does not
 * change. Returns 0 if the history at `time` was already dropped, and infinity if the history never expires.
 */
export function expiresAt(
  collection: CollectionId,
  definition: StoredCollection | undefined,
  time: Micros,
): number {
  const { historyGraceMicros } = retentionLimits
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

/** Throws a RequestError for a read before the retained history. */
export function checkValidTime(at: number, minimum: Micros): void {
  if (at >= minimum) return
  throw new RequestError(
    'bad request',
    msg`Requested timestamp ${formatMicros(at)} less than minimum allowed timestamp ${formatMicros(minimum)}.`,
  )
}
