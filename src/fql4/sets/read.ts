// Reads sets without pages: reads all elements or the first or last element, or tests whether an element exists.
// The parameter `key` is the name of an argument: permission errors have the position of this argument. If `key` is
// undefined, permission errors have the position of the call.

import { msg } from '../../base/message.ts'
import { readElement } from '../../model/read.ts'
import { elementValue, firstOf, rangeOfKey } from '../../model/sets/stream.ts'
import { viewDocument } from '../../model/view-document.ts'
import { equalValues } from '../../values/equality.ts'
import { isArray, Ref, type Value } from '../../values/value.ts'
import type { Call } from '../definition.ts'
import { permissionDenied } from '../failure-errors.ts'
import type { QueryError } from '../query-errors.ts'
import type { SetLike } from '../values/transient.ts'
import { CallReading } from './call-reading.ts'
import { unresolvedIn } from './cursor.ts'
import { isHistory } from './describe.ts'
import { eventValue } from './event-cursor.ts'
import { openMember, openSet } from './open.ts'
import { openHistory, openMemberHistory } from './open-history.ts'

interface Item {
  readonly document: Ref
  value(): Value
}

function denied(call: Call, key: string | undefined): QueryError {
  return permissionDenied(call, ...(key === undefined ? [] : [key]))
}

/** Checks the permission immediately, and reads the items of a set or history on demand. */
function open(set: SetLike, reading: CallReading, key: string | undefined, reverse = false): Iterable<Item> {
  if (isHistory(set)) {
    const history = openHistory(set, reading)
    if (!history) throw denied(reading.call, key)
    return items(history({ reverse }), eventValue)
  }
  const stream = openSet(set, reading)
  if (!stream) throw denied(reading.call, key)
  return items(stream.scan({ reverse }), elementValue)
}

function items<T extends { readonly document: Ref }>(
  source: Iterable<T>,
  view: (item: T) => Value,
): Iterable<Item> {
  return Iterator.from(source).map(item => ({ document: item.document, value: () => view(item) }))
}

function firstItem(set: SetLike, call: Call, key: string, reverse = false): Item | undefined {
  const reading = CallReading.of(call)
  const item = firstOf(open(set, reading, key, reverse))
  reading.finish(reverse ? 'last' : 'first')
  return item
}

/** Elements are read on demand, so a caller can stop early. */
export function elementsOf(set: SetLike, call: Call, key: string): Iterable<Value> {
  const reading = CallReading.of(call)
  return values(open(set, reading, key), reading)
}

function* values(source: Iterable<Item>, reading: CallReading): Generator<Value> {
  for (const item of source) yield item.value()
  reading.finish('all')
}

/** Throws, for an empty set, an error with the position of the argument `first` or `last`. */
export function endOfSet(set: SetLike, call: Call, end: 'first' | 'last'): Value {
  const item = firstItem(set, call, end, end === 'last')
  if (!item) throw call.invalid(msg`Non-empty set expected.`, end)
  return item.value()
}

/**
 * Counts only elements that the caller may read. As in the hosted service, permission errors have the position of an
 * argument `exists`, even if the function has another argument.
 */
export function existsInSet(set: SetLike, call: Call): boolean {
  return firstItem(set, call, 'exists') !== undefined
}

/** The caller needs no permission to read the document. */
function firstDocument(set: SetLike, reading: CallReading, key: string): Ref | undefined {
  const found = isHistory(set)
    ? openMemberHistory(set, reading)?.history({})
    : openMember(set, reading)?.stream.scan({})
  if (!found) throw denied(reading.call, key)
  return firstOf<{ readonly document: Ref }>(found)?.document
}

/** Returns the document of the first element, for a login. The caller needs no permission to read this document. */
export function firstIdentity(set: SetLike, call: Call, key: string): Ref | undefined {
  const reading = CallReading.of(call)
  const document = firstDocument(set, reading, key)
  reading.finish('first')
  return document
}

/**
 * Implements `get`: the first readable element. Throws `instance not found` if the set is empty, and `permission
 * denied` if the caller may read none of its elements.
 */
export function getFromSet(set: SetLike, call: Call, key: string): Value {
  const document = firstItem(set, call, key)?.document ?? firstDocument(set, CallReading.of(call), key)
  if (!document) throw call.error('instance not found', msg`Set not found.`)
  return viewDocument(readElement(document, call.session), call.session)
}

/** Permission errors have the position of the call. */
export function containsInSet(set: SetLike, value: Value, call: Call): boolean {
  const reading = CallReading.of(call)
  if (isHistory(set)) {
    const history = Iterator.from(open(set, reading, undefined))
    const found = history.some(item => equalValues(item.value(), value))
    reading.finish(found ? `contains ${call.session.keys.keyOf(value)}` : 'all')
    return found
  }
  const stream = openSet(set, reading)
  if (!stream) throw denied(call, undefined)
  if (unresolvedIn(value)) return false
  const found = keysOf(value, stream.order.arity).some(key => {
    for (const element of stream.scan(rangeOfKey(key)))
      if (equalValues(elementValue(element), value)) return true
    return false
  })
  reading.finish(`contains ${call.session.keys.keyOf(value)}`)
  return found
}

/** An array can be a single value of an element, or a tuple of values. */
function keysOf(value: Value, arity: number): readonly (readonly Value[])[] {
  const keys: (readonly Value[])[] = []
  if (arity > 0 || value instanceof Ref) keys.push([value])
  if (isArray(value) && value.length > 1 && value.length <= arity) keys.push(value)
  return keys
}
