// Histories of index entries, of collections, and of single documents, from storage.

import { nearestMicros } from '../../base/micros.ts'
import type { IndexDefinition } from '../../storage/store/index-definition.ts'
import type {
  EventBound,
  IndexEvent,
  EventScan as StoredScan,
  Version,
} from '../../storage/store/store-contract.ts'
import { type ObjectValue, type Ref, refKey, type Value } from '../../values/value.ts'
import type { Session } from '../session.ts'
import { visibleFields } from '../view-document.ts'
import { allDocuments, type ElementFilter } from './access.ts'
import {
  changesBetween,
  eventTime,
  type HistoryPlace,
  type HistoryScan,
  type HistoryStream,
  isWithin,
  type SetEvent,
  upTo,
} from './history.ts'
import type { Reading } from './reading.ts'
import { documentsPartitions, matchKey, partitionsOf } from './stored-streams.ts'

function storedScan(scan: HistoryScan, { at }: Reading): StoredScan {
  const { from, to, reverse } = upTo(scan, at)
  return {
    ...(from && { from: storedBound(from) }),
    ...(to && { to: storedBound(to) }),
    ...(reverse && { reverse }),
  }
}

function storedBound({ ts, action, document, values, side }: HistoryPlace): EventBound {
  if (!action) return { ts, side }
  const isRemoval = action === 'remove' || action === 'delete'
  const bound = { ts, action: isRemoval ? 'remove' : 'add', side } as const
  return document ? { ...bound, document, ...(values && { values }) } : bound
}

/** The visible events. `source` is the only element of {@link SetEvent.sources}. */
function storedHistory(
  key: string,
  partitions: number,
  read: (scan: StoredScan) => Iterable<IndexEvent>,
  source: Value,
  isVisible: ElementFilter,
  reading: Reading,
): HistoryStream {
  const sources = [source]
  const view = (event: IndexEvent): SetEvent | undefined =>
    isVisible(event.document) ? { ...event, fields: null, sources } : undefined
  return scan => reading.measured(`events ${key}`, partitions, read(storedScan(scan, reading)), view)
}

/**
 * Add and remove events of index entries with the given terms. `source` becomes the only element of
 * {@link SetEvent.sources}.
 */
export function matchHistory(
  index: IndexDefinition,
  terms: readonly Value[],
  source: Value,
  reading: Reading,
): HistoryStream {
  const read = (scan: StoredScan) => reading.session.transaction.matchEvents(index, terms, scan)
  const key = matchKey(index, terms, reading)
  return storedHistory(key, partitionsOf(index), read, source, allDocuments, reading)
}

/** Add and remove events of a collection's documents. `source` becomes the only element of {@link SetEvent.sources}. */
export function documentsHistory(
  { database, id }: Ref,
  source: Value,
  isVisible: ElementFilter,
  reading: Reading,
): HistoryStream {
  const read = (scan: StoredScan) => reading.session.transaction.documentEvents(database, Number(id), scan)
  const key = `documents ${database}/${id}`
  return storedHistory(key, documentsPartitions, read, source, isVisible, reading)
}

/** All versions (`versions`), or only add and remove events (`membership`). */
export function documentHistory(
  document: Ref,
  source: Value,
  kind: 'versions' | 'membership',
  reading: Reading,
): HistoryStream {
  const { session } = reading
  const event = ({ ts }: Version, action: SetEvent['action'], fields: SetEvent['fields']): SetEvent => {
    return { ts, action, document, fields, values: [], sources: [source] }
  }
  const eventOf: EventOfVersion = (version, previous) => {
    if (kind === 'versions') return event(version, version.action, fieldsOf(version, previous, session))
    const isLive = version.action !== 'delete'
    const wasLive = previous !== undefined && previous.action !== 'delete'
    return isLive === wasLive ? undefined : event(version, isLive ? 'add' : 'remove', null)
  }
  return scan => versionEvents(document, eventOf, scan, reading)
}

type EventOfVersion = (version: Version, previous: Version | undefined) => SetEvent | undefined

function* versionEvents(
  document: Ref,
  eventOf: EventOfVersion,
  scan: HistoryScan,
  reading: Reading,
): Generator<SetEvent> {
  const bounded = upTo(scan, reading.at)
  const reverse = scan.reverse === true
  const { from, to } = bounded
  // The scan begins with the version before the first event, because the event depends on this version.
  const stored = reading.session.transaction.versions(
    document,
    reverse ? { reverse, notAfter: to?.ts } : { notBefore: from && nearestMicros(from.ts - 1) },
  )
  const versions = reading.measured(`versions ${refKey(document)}`, 1, stored, version => version)
  for (const [version, previous] of withPrevious(versions, reverse)) {
    const ts = eventTime(version)
    if (reverse ? from && ts < from.ts : to && ts > to.ts) return
    const found = eventOf(version, previous)
    if (found && isWithin(found, bounded)) yield found
  }
}

function fieldsOf(version: Version, previous: Version | undefined, session: Session): ObjectValue | null {
  if (version.action === 'delete') return null
  const fields = visibleFields(version, session)
  if (version.action === 'create' || !previous || previous.action === 'delete') return fields
  return changesBetween(visibleFields(previous, session), fields)
}

/** Yields each version with the next older version. If `reverse` is true, `versions` begins with the latest version. */
function* withPrevious(
  versions: Iterable<Version>,
  reverse: boolean,
): Generator<readonly [Version, Version | undefined]> {
  let last: Version | undefined
  for (const version of versions) {
    if (!reverse) yield [version, last]
    else if (last) yield [last, version]
    last = version
  }
  if (reverse && last) yield [last, undefined]
}
