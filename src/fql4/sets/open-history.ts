// Opens the history of a set, without events that the caller may not read.

import { unreachable } from '../../base/assert.ts'
import { epoch, micros } from '../../base/micros.ts'
import { documentsFilter, mayReadHistory, nativeFilter, readableIndex } from '../../model/sets/access.ts'
import type { HistoryStream, SetEvent } from '../../model/sets/history.ts'
import { documentHistory, documentsHistory, matchHistory } from '../../model/sets/stored-histories.ts'
import { firstOf } from '../../model/sets/stream.ts'
import { isNativeCollectionRef, type Micros, native, Ref } from '../../values/value.ts'
import { type SetLike, type SetShape, SetValue } from '../values/transient.ts'
import type { CallReading } from './call-reading.ts'
import { combinedHistory, type HistoryMember, joinHistory, presentOf } from './combined-history.ts'
import { openSet, withoutHistory } from './open.ts'

/** Opens the history of a set or document. Returns undefined if the caller may not read the history. */
export function openHistory(set: SetLike, reading: CallReading): HistoryStream | undefined {
  if (set instanceof SetValue) return openShape(set, set.shape, reading)
  if (!isNativeCollectionRef(set)) return openDocument(set, set, 'versions', reading)
  const shows = nativeFilter(set, reading.session)
  return shows && documentsHistory(set, eventsOf(set), shows, reading)
}

function openShape(set: SetValue, shape: SetShape, reading: CallReading): HistoryStream | undefined {
  switch (shape.type) {
    case 'match': {
      const { index: ref, terms } = shape
      const found = readableIndex(ref, terms, reading)
      return found && matchHistory(found.index, terms, eventsOf(set), found.shows, reading)
    }
    case 'documents':
      return documentsHistory(
        shape.collection,
        eventsOf(set),
        documentsFilter(shape.collection, reading.session),
        reading,
      )
    case 'singleton':
      return openDocument(shape.ref, set, 'membership', reading)
    case 'events':
    case 'distinct':
      return openHistory(shape.source, reading)
    case 'union':
    case 'intersection':
    case 'difference':
      return openCombination(shape.type, shape.sets, reading)
    case 'join': {
      const history = openHistory(shape.source, reading)
      const present = openSet(shape.source, reading)
      const open = (target: SetLike) => openHistory(target, reading)
      return history && present && joinHistory(history, present, shape.with, reading, open)
    }
    case 'reverse':
    case 'range':
    case 'filter':
      throw withoutHistory(reading)
    default:
      return unreachable(shape)
  }
}

/** Returns the set of the events of `source`. The events in a page name this set as their source. */
function eventsOf(source: SetLike): SetValue {
  return new SetValue({ type: 'events', source })
}

function openDocument(document: Ref, set: SetLike, kind: 'versions' | 'membership', reading: CallReading) {
  return mayReadHistory(document, reading.session)
    ? documentHistory(document, eventsOf(set), kind, reading)
    : undefined
}

/**
 * Opens the history of a union, intersection or difference of `sets`. Ignores sets whose history the caller may not
 * read. Returns undefined if all sets are ignored, or if the first set of a difference is ignored.
 */
function openCombination(
  type: 'union' | 'intersection' | 'difference',
  sets: readonly SetLike[],
  reading: CallReading,
): HistoryStream | undefined {
  const opened = sets.map(set => memberOf(set, reading))
  const members = opened.filter(member => member !== undefined)
  if (members.length === 0 || (type === 'difference' && !opened[0])) return undefined
  return combinedHistory(type, members)
}

function memberOf(set: SetLike, reading: CallReading): HistoryMember | undefined {
  const events = openHistory(set, reading)
  const present = presentOf(set)
  const oldest = minimumValidTime(present, reading)
  return (
    events && {
      events,
      holds(key, event, when) {
        const at = momentOf(event, when, oldest, reading)
        const stream = openSet(present, reading.asOf(at))
        const place = { from: { values: key, side: 'low' }, to: { values: key, side: 'high' } } as const
        return stream !== undefined && firstOf(stream.scan(place)) !== undefined
      },
    }
  )
}

/**
 * Returns the time at which to read a set: the time of an event (`then`), or the time just before the event
 * (`before`). The result is never earlier than `oldest`. Undefined means the present, including the writes of the
 * transaction.
 */
function momentOf(
  event: SetEvent,
  when: 'then' | 'before',
  oldest: Micros,
  reading: CallReading,
): Micros | undefined {
  const { snapshotTime } = reading.session.transaction
  if (typeof event.ts !== 'number') return when === 'then' ? undefined : snapshotTime
  return Math.max(oldest, when === 'then' ? event.ts : micros(event.ts - 1))
}

/** Returns the oldest time at which a set can be read. */
function minimumValidTime(set: SetLike, reading: CallReading): Micros {
  const strictest = (sets: readonly SetLike[]) =>
    sets.reduce((oldest, member) => Math.max(oldest, minimumValidTime(presentOf(member), reading)), epoch)
  if (set instanceof Ref)
    return minimumOf(set, isNativeCollectionRef(set) ? Number(set.id) : set.collection, reading)
  const { shape } = set
  switch (shape.type) {
    case 'match':
      return minimumOfIndex(shape.index, reading)
    case 'documents':
      return minimumOf(shape.collection, Number(shape.collection.id), reading)
    case 'singleton':
      return minimumOf(shape.ref, shape.ref.collection, reading)
    case 'union':
    case 'intersection':
    case 'difference':
      return strictest(shape.sets)
    case 'join':
      return Math.max(
        strictest([shape.source]),
        shape.with instanceof Ref ? minimumOfIndex(shape.with, reading) : epoch,
      )
    default:
      return strictest([shape.source])
  }
}

function minimumOf({ database }: Ref, collection: number, { session }: CallReading): Micros {
  return session.transaction.minimumValidTime(database, collection)
}

function minimumOfIndex(ref: Ref, reading: CallReading): Micros {
  const { transaction } = reading.session
  const collections = new Set<number>()
  for (const source of transaction.catalogue.index(ref)?.sources ?? []) {
    if (source.collections !== '_') for (const collection of source.collections) collections.add(collection)
    else
      for (const { document } of transaction.documents(ref.database, native.collections, {}))
        collections.add(Number(document.id))
  }
  return [...collections].reduce<Micros>(
    (oldest, collection) => Math.max(oldest, minimumOf(ref, collection, reading)),
    epoch,
  )
}
