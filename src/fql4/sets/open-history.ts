// Opens the history of a set, without events that the caller may not read. As in open.ts, the history of a combined set
// is computed from all events of its members, and then filtered by the caller's permission to read the documents.

import { unreachable } from '../../base/assert.ts'
import { epoch, micros } from '../../base/micros.ts'
import {
  listedDocumentsOf,
  mayReadAll,
  mayReadHistory,
  mayReadNative,
  readableDocuments,
  readableIndex,
} from '../../model/sets/access.ts'
import { eventTime, type HistoryStream, type SetEvent } from '../../model/sets/history.ts'
import { documentHistory, documentsHistory, matchHistory } from '../../model/sets/stored-histories.ts'
import { firstOf, rangeOfKey } from '../../model/sets/stream.ts'
import { isNativeCollectionRef, type Lambda, type Micros, native, Ref } from '../../values/value.ts'
import { type SetLike, type SetShape, SetValue } from '../values/transient.ts'
import type { CallReading } from './call-reading.ts'
import {
  combinedHistory,
  elementSetOf,
  eventKey,
  type HistoryMember,
  isRemoval,
  joinHistory,
} from './combined-history.ts'
import { targetsOf } from './join.ts'
import { noHistoryError, openMember } from './open.ts'

/** The history of a set with all events, also events of documents that the caller may not read. */
interface MemberHistory {
  readonly history: HistoryStream
  /** True if results must not contain events of documents that the caller may not read. */
  readonly isFiltered: boolean
}

/** Returns undefined if the caller may not read the history. */
export function openHistory(set: SetLike, reading: CallReading): HistoryStream | undefined {
  const opened = openMemberHistory(set, reading)
  if (!opened?.isFiltered) return opened?.history
  const { history } = opened
  const isReadable = readableDocuments(reading.session)
  return eventsThat(({ document }) => isReadable(document), history)
}

function eventsThat(passes: (event: SetEvent) => boolean, history: HistoryStream): HistoryStream {
  return scan => Iterator.from(history(scan)).filter(passes)
}

/**
 * Returns undefined if the caller may not read the history. Results must not contain events of a filtered history whose
 * documents the caller may not read.
 */
export function openMemberHistory(set: SetLike, reading: CallReading): MemberHistory | undefined {
  if (set instanceof SetValue) return openShape(set, set.shape, reading)
  if (!isNativeCollectionRef(set)) return openDocument(set, set, 'versions', reading)
  const { session } = reading
  if (!mayReadNative(set, session)) return undefined
  const history = documentsHistory(set, eventsOf(set), listedDocumentsOf(set, session), reading)
  return { history, isFiltered: true }
}

function openShape(set: SetValue, shape: SetShape, reading: CallReading): MemberHistory | undefined {
  const { session } = reading
  switch (shape.type) {
    case 'match': {
      const { index: ref, terms } = shape
      const found = readableIndex(ref, terms, session)
      if (!found) return undefined
      const history = matchHistory(found.index, terms, eventsOf(set), reading)
      return { history, isFiltered: found.isFiltered }
    }
    case 'documents': {
      const { collection } = shape
      const isListed = listedDocumentsOf(collection, session)
      const history = documentsHistory(collection, eventsOf(set), isListed, reading)
      return { history, isFiltered: !mayReadAll(collection, session) }
    }
    case 'singleton':
      return openDocument(shape.ref, set, 'membership', reading)
    case 'events':
    case 'distinct':
      return openMemberHistory(shape.source, reading)
    case 'union':
    case 'intersection':
    case 'difference':
      return openCombination(shape.type, shape.sets, reading)
    case 'join':
      return openJoin(shape.source, shape.with, reading)
    case 'reverse':
    case 'range':
    case 'filter':
      throw noHistoryError(reading)
    default:
      return unreachable(shape)
  }
}

/** The events in a page name this set as their source. */
function eventsOf(source: SetLike): SetValue {
  return new SetValue({ type: 'events', source })
}

function openDocument(
  document: Ref,
  set: SetLike,
  kind: 'versions' | 'membership',
  reading: CallReading,
): MemberHistory | undefined {
  if (!mayReadHistory(document, reading.session)) return undefined
  return { history: documentHistory(document, eventsOf(set), kind, reading), isFiltered: false }
}

/**
 * Ignores sets whose history the caller may not read. Returns undefined if all sets are ignored, or if the first set of
 * a difference is ignored.
 */
function openCombination(
  type: 'union' | 'intersection' | 'difference',
  sets: readonly SetLike[],
  reading: CallReading,
): MemberHistory | undefined {
  const opened = sets.map(set => openOperand(type, set, reading))
  const members = opened.filter(member => member !== undefined)
  if (members.length === 0 || (type === 'difference' && !opened[0])) return undefined
  return { history: combinedHistory(type, members), isFiltered: members.some(member => member.isFiltered) }
}

function openOperand(
  type: 'union' | 'intersection' | 'difference',
  set: SetLike,
  reading: CallReading,
): (HistoryMember & Pick<MemberHistory, 'isFiltered'>) | undefined {
  const opened = openMemberHistory(set, reading)
  if (opened === undefined) return undefined
  const { history, isFiltered } = opened
  const elementSet = elementSetOf(set)
  const oldest = minimumValidTime(elementSet, reading)
  const holds: HistoryMember['holds'] = (key, event, when) => {
    const at = momentOf(event, when, oldest, reading)
    const member = openMember(elementSet, reading.asOf(at))
    return member !== undefined && firstOf(member.stream.scan(rangeOfKey(key))) !== undefined
  }
  if (type === 'union' || !isCombined(elementSet)) return { isFiltered, events: history, holds }
  const isChange = (event: SetEvent) => {
    const key = eventKey(event)
    if (holds(key, event, 'then') === isRemoval(event)) return false
    // The state before the retained history is unknown.
    return eventTime(event) <= oldest || holds(key, event, 'before') === isRemoval(event)
  }
  return { isFiltered, events: eventsThat(isChange, history), holds }
}

/**
 * True if the history of a set can have events that do not change the set: its members can add and remove an element at
 * the same time, or one member can remove an element that another member still contains.
 */
function isCombined(set: SetLike): boolean {
  if (!(set instanceof SetValue)) return false
  const { shape } = set
  if (shape.type === 'distinct') return isCombined(elementSetOf(shape.source))
  return ['union', 'intersection', 'difference', 'join'].includes(shape.type)
}

/** Target sets whose history the caller may not read have no events. */
function openJoin(source: SetLike, link: Lambda | Ref, reading: CallReading): MemberHistory | undefined {
  const opened = openMemberHistory(source, reading)
  const present = openMember(source, reading)
  if (!opened || !present) return undefined
  let { isFiltered } = opened
  const targetOf = targetsOf(link, isFiltered, reading)
  const history = joinHistory(opened.history, present.stream, targetOf, reading, target => {
    const member = openMemberHistory(target, reading)
    isFiltered ||= member?.isFiltered === true
    return member?.history
  })
  return { history, isFiltered }
}

/**
 * Returns the time of an event (`then`), or the time just before it (`before`), but no time before `oldest`. Undefined
 * means the present, including the writes of the transaction.
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

function minimumValidTime(set: SetLike, reading: CallReading): Micros {
  const strictest = (sets: readonly SetLike[]) =>
    sets.reduce((oldest, member) => Math.max(oldest, minimumValidTime(elementSetOf(member), reading)), epoch)
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
