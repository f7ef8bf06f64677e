// Converts events to values, and parses the cursors of history pages. A cursor is a time, or an event whose last
// members may be missing.

import { InvariantError } from '../../base/assert.ts'
import { msg } from '../../base/message.ts'
import { endOfTime, type Micros, nearestMicros, secondsPerDay } from '../../base/micros.ts'
import type { HistoryPlace, SetEvent } from '../../model/sets/history.ts'
import { microsOfTime } from '../../values/time.ts'
import {
  type ActionName,
  isObject,
  LocalDate,
  namedNatives,
  type ObjectValue,
  Ref,
  Time,
  UnresolvedRef,
  type Value,
} from '../../values/value.ts'
import { type Call, mismatch, undefinedReference } from '../definition.ts'
import { ErrorList, type QueryError } from '../query-errors.ts'
import { Action, EventValue } from '../values/transient.ts'
import { listOf, unresolvedIn } from './cursor.ts'
import { hasRef, resolveNames } from './former-names.ts'

interface EventCursor {
  readonly place: HistoryPlace
  /** The cursor in the rendered page. */
  readonly shown: EventValue
}

/** The allowed sets of keys of an event cursor. */
const keySets = [
  'ts',
  'ts,action',
  'ts,action,resource',
  'ts,action,resource,values',
  'ts,action,instance',
  'ts,action,document',
  'ts,action,instance,data',
  'ts,action,document,data',
].map(keys => keys.split(',').sort().join())

/** Document and set histories name their actions differently. For native collections, see {@link readEventCursor}. */
export type HistoryKind = 'document' | 'set' | 'native collection'

/**
 * Parses an event cursor. `at` is the path from the call to the cursor. `isEvent` returns whether the history contains
 * the event after a place; it decides between deleted objects of the same name. Throws `invalid ref` for the name of an
 * object that never existed. The places of cursors that contain no document (in a document's history, create events are
 * add events, and delete events are remove events):
 *
 * - Only a time: a page after the cursor starts with the add events of this time. A page before the cursor ends before
 *   all events of this time.
 * - An object with a time and an action: the place is after all events with this time and action.
 * - An object with only a time: the place is after the add events of this time. Exception: in native collections, a
 *   page after the cursor includes these events.
 *
 * If a cursor contains no action, the remove events of its time are on neither page.
 */
export function readEventCursor(
  cursor: Value,
  direction: 'after' | 'before',
  kind: HistoryKind,
  call: Call,
  at: readonly string[],
  isEvent: (place: HistoryPlace) => boolean,
): EventCursor {
  const ofSet = kind !== 'document'
  const first: ActionName = ofSet ? 'add' : 'create'
  const moment = momentOf(cursor)
  if (moment !== undefined) {
    const place: HistoryPlace =
      direction === 'after'
        ? { ts: moment, action: first, side: 'low', timeOnly: true }
        : { ts: moment, side: 'low', timeOnly: true }
    return { place, shown: new EventValue(moment, first, undefined, null) }
  }
  const fields = fieldsOf(cursor)
  if (!fields) throw mismatch('Object, Integer, Time, or Date', cursor, call, ...at)
  const { ts, action = first, document, values } = readFields(fields, ofSet, call, at)
  if (!document) {
    const hasAction = fields.has('action')
    const side = kind === 'native collection' && direction === 'after' && !hasAction ? 'low' : 'high'
    const place: HistoryPlace = { ts, action, side, ...(!hasAction && { timeOnly: true }) }
    return { place, shown: new EventValue(ts, action, undefined, null, values) }
  }
  const placeOf = ([of, ...rest]: readonly Value[]): HistoryPlace => {
    return { ts, action, document: of as Ref, values: rest, side: 'low' }
  }
  const isNamed = document instanceof Ref && namedNatives.has(document.collection)
  const mayMeanDeleted = isNamed || values?.some(hasRef) === true
  const given = [document, ...(values ?? [])]
  const resolved = resolveNames(given, mayMeanDeleted, each => isEvent(placeOf(each)), call.session)
  if (!resolved) throw undefinedName(fields, call, at)
  const [of, ...rest] = resolved as readonly [Ref, ...Value[]]
  return { place: placeOf(resolved), shown: new EventValue(ts, action, of, null, values && rest) }
}

/** The error for the first member that contains an unresolved reference. */
function undefinedName(fields: ObjectValue, call: Call, at: readonly string[]): QueryError {
  for (const [name, value] of fields) {
    const unresolved = unresolvedIn(value)
    if (unresolved) return undefinedReference(unresolved, call, ...at, name)
  }
  throw new InvariantError('a cursor without unresolved references has a place')
}

function momentOf(cursor: Value): Micros | undefined {
  if (cursor === null) return endOfTime
  if (typeof cursor === 'bigint') return nearestMicros(Number(cursor))
  if (cursor instanceof Time) return nearestMicros(Number(microsOfTime(cursor)))
  return cursor instanceof LocalDate ? nearestMicros(cursor.epochDay * secondsPerDay * 1e6) : undefined
}

function fieldsOf(cursor: Value): ObjectValue | undefined {
  if (isObject(cursor)) return cursor
  if (!(cursor instanceof EventValue)) return undefined
  const { ts, action, document, values } = cursor
  const fields = new Map<string, Value>([
    ['ts', typeof ts === 'number' ? BigInt(ts) : ts],
    ['action', new Action(action)],
  ])
  if (document) fields.set('document', document)
  if (document && values) fields.set('data', values)
  return fields
}

/** Reads the members of an event cursor. Reports the errors of all members together. */
function readFields(fields: ObjectValue, ofSet: boolean, call: Call, at: readonly string[]) {
  if (!keySets.includes([...fields.keys()].sort().join())) {
    throw call.invalid(msg`Cannot create event cursor with keys ${[...fields.keys()].join(', ')}`, ...at)
  }
  const errors = new ErrorList()
  const field = <T>(name: string, read: (given: Value) => T): T | undefined =>
    fields.has(name) ? errors.collectFrom(() => read(fields.get(name) as Value)) : undefined
  const ts = field('ts', given => readMoment(given, call, at))
  const action = field('action', given => readAction(given, ofSet, call, at))
  const name = ['document', 'instance', 'resource'].find(each => fields.has(each)) ?? 'document'
  const document = field(name, given => readDocument(given, call, [...at, name]))
  // The other members of a cursor decide between deleted objects of the same name. If a member is wrong, the name stays
  // unresolved, and its error is reported with the other errors.
  if (!errors.isEmpty && document instanceof UnresolvedRef)
    errors.add(undefinedReference(document, call, ...at, name).errors)
  errors.throwIfAny()
  const values = fields.get('data') ?? fields.get('values')
  return { ts: ts as Micros, action, document, values: values === undefined ? undefined : listOf(values) }
}

function readMoment(given: Value, call: Call, at: readonly string[]): Micros {
  if (typeof given !== 'bigint') throw mismatch('Integer', given, call, ...at, 'ts')
  return nearestMicros(Number(given))
}

const pairs: Readonly<Record<string, readonly [ofSet: ActionName, ofDocument: ActionName]>> = {
  add: ['add', 'create'],
  create: ['add', 'create'],
  remove: ['remove', 'delete'],
  delete: ['remove', 'delete'],
}

function readAction(given: Value, ofSet: boolean, call: Call, at: readonly string[]): ActionName {
  const name = given instanceof Action ? given.name : given
  if (name === 'update' && !ofSet) return name
  const pair = typeof name === 'string' && Object.hasOwn(pairs, name) ? pairs[name] : undefined
  if (pair) return pair[ofSet ? 0 : 1]
  const expected = ofSet ? "String 'add', or 'remove'" : "String 'create', 'update', or 'delete'"
  throw mismatch(expected, given, call, ...at, 'action')
}

function readDocument(given: Value, call: Call, at: readonly string[]): Ref | UnresolvedRef {
  if (given instanceof Ref || given instanceof UnresolvedRef) return given
  throw mismatch('Ref', given, call, ...at)
}

export function eventValue({ ts, action, document, values, fields }: SetEvent): EventValue {
  return new EventValue(ts, action, document, fields, values.length === 0 ? undefined : values)
}

/** Omits the fields of the document. */
export function eventCursor(event: SetEvent): EventValue {
  return eventValue({ ...event, fields: null })
}
