// Opens a set as a stream of elements, without elements that the caller may not read.

import { unreachable } from '../../base/assert.ts'
import { msg } from '../../base/message.ts'
import { documentsFilter, mayReadHistory, nativeFilter, readableIndex } from '../../model/sets/access.ts'
import { documentStream, documentsStream, matchStream } from '../../model/sets/stored-streams.ts'
import { type Element, type ElementStream, elementValue } from '../../model/sets/stream.ts'
import { isNativeCollectionRef, type Ref } from '../../values/value.ts'
import { typeName } from '../values/tagged.ts'
import { type SetLike, type SetShape, SetValue } from '../values/transient.ts'
import { applySetLambda, type CallReading, setLambdaError } from './call-reading.ts'
import { rangePlaces } from './cursor.ts'
import { joinStream } from './join.ts'
import {
  differenceStream,
  distinctStream,
  filteredStream,
  intersectionStream,
  rangeStream,
  reversedStream,
  unionStream,
} from './streams.ts'

/**
 * Opens a set. Returns undefined if the caller may not read the set. Elements are read on demand, but the source of a
 * join is read immediately.
 */
export function openSet(set: SetLike, reading: CallReading): ElementStream | undefined {
  if (set instanceof SetValue) return openShape(set, set.shape, reading)
  if (!isNativeCollectionRef(set)) return openDocument(set, set, reading)
  const shows = nativeFilter(set, reading.session)
  return shows && documentsStream(set, set, shows, reading)
}

function openShape(set: SetValue, shape: SetShape, reading: CallReading): ElementStream | undefined {
  switch (shape.type) {
    case 'match': {
      const { index: ref, terms } = shape
      const found = readableIndex(ref, terms, reading)
      return found && matchStream(found.index, terms, set, found.shows, reading)
    }
    case 'documents':
      return documentsStream(
        shape.collection,
        set,
        documentsFilter(shape.collection, reading.session),
        reading,
      )
    case 'singleton':
      return openDocument(shape.ref, set, reading)
    case 'union':
    case 'intersection':
    case 'difference':
      return openCombination(shape.type, shape.sets, reading)
    case 'join': {
      const source = openSet(shape.source, reading)
      return source && joinStream(source, shape.with, reading, target => openSet(target, reading))
    }
    case 'distinct':
      return derive(shape.source, reading, source => distinctStream(source))
    case 'reverse':
      return derive(shape.source, reading, source => reversedStream(source))
    case 'range':
      return derive(shape.source, reading, source => {
        const { from, to } = rangePlaces(shape.from, shape.to, source.order)
        return rangeStream(source, from, to)
      })
    case 'filter':
      return derive(shape.source, reading, source =>
        filteredStream(source, predicateOf(shape.lambda, reading)),
      )
    case 'events':
      throw withoutHistory(reading)
    default:
      return unreachable(shape)
  }
}

/**
 * Creates the error for two cases: a set has no readable history, or a set of events is used where a set of elements is
 * required.
 */
export function withoutHistory({ call }: CallReading) {
  return call.invalid(msg`Set does not support events history.`)
}

function derive(
  set: SetLike,
  reading: CallReading,
  make: (source: ElementStream) => ElementStream,
): ElementStream | undefined {
  const source = openSet(set, reading)
  return source && make(source)
}

function openDocument(document: Ref, set: SetLike, reading: CallReading): ElementStream | undefined {
  return mayReadHistory(document, reading.session) ? documentStream(document, set, reading) : undefined
}

/**
 * Opens a union, intersection or difference. Ignores the sets that the caller may not read. Returns undefined if the
 * caller may read none of the sets, or may not read the first set of a difference.
 */
function openCombination(
  type: 'union' | 'intersection' | 'difference',
  sets: readonly SetLike[],
  reading: CallReading,
): ElementStream | undefined {
  const opened = sets.map(set => openSet(set, reading))
  const members = opened.filter(member => member !== undefined)
  const [first] = members
  if (!first) return undefined
  if (type === 'difference') return opened[0] && differenceStream(opened[0], members.slice(1))
  if (members.length === 1) return first
  return type === 'union' ? unionStream(members) : intersectionStream(members)
}

function predicateOf(lambda: Extract<SetShape, { type: 'filter' }>['lambda'], reading: CallReading) {
  return (element: Element): boolean => {
    const result = applySetLambda(lambda, elementValue(element), reading)
    if (typeof result === 'boolean') return result
    throw setLambdaError(lambda, msg`Boolean expected, ${typeName(result)} provided.`, reading)
  }
}
