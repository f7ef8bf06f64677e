// Opens a set as a stream of elements. The elements of a combined set are computed from all elements of its members,
// and the result is filtered by the caller's permission to read the documents. If members were filtered first, a
// difference would show the elements that a hidden document subtracts, and a join would lose the targets of hidden
// documents.

import { unreachable } from '../../base/assert.ts'
import { msg } from '../../base/message.ts'
import {
  allDocuments,
  listedDocumentsOf,
  mayReadAll,
  mayReadHistory,
  mayReadNative,
  readableDocuments,
  readableIndex,
} from '../../model/sets/access.ts'
import { documentStream, documentsStream, matchStream } from '../../model/sets/stored-streams.ts'
import { type Element, type ElementStream, elementValue } from '../../model/sets/stream.ts'
import { isNativeCollectionRef, type Lambda, type Ref } from '../../values/value.ts'
import { typeName } from '../values/tagged.ts'
import { type SetLike, type SetShape, SetValue } from '../values/transient.ts'
import { applySetLambda, type CallReading, setLambdaError, withoutHiddenErrors } from './call-reading.ts'
import { rangePlaces } from './cursor.ts'
import { joinStream, targetsOf } from './join.ts'
import {
  differenceStream,
  distinctStream,
  filteredStream,
  intersectionStream,
  rangeStream,
  reversedStream,
  unionStream,
} from './streams.ts'

/** A set with all elements, also elements whose documents the caller may not read. */
interface OpenMember {
  readonly stream: ElementStream
  /** True if results must not contain elements whose documents the caller may not read. */
  readonly isFiltered: boolean
}

/** The shapes that select or reorder the elements of one source. */
type PartShape = Extract<SetShape, { type: 'reverse' | 'range' | 'filter' }>

/**
 * Returns undefined if the caller may not read the set, or if its index does not exist. Reads on demand, except for the
 * source of a join.
 */
export function openSet(set: SetLike, reading: CallReading): ElementStream | undefined {
  if (set instanceof SetValue && isPart(set.shape)) {
    // The lambda of an outer filter gets only readable elements, because its errors can contain the elements.
    const source = openSet(set.shape.source, reading)
    return source && partOf(source, set.shape, reading, false)
  }
  const opened = openMember(set, reading)
  if (!opened?.isFiltered) return opened?.stream
  const isReadable = readableDocuments(reading.session)
  return filteredStream(opened.stream, ({ document }) => isReadable(document))
}

/**
 * Returns undefined if the caller may not read the set. Results must not contain elements of a filtered member whose
 * documents the caller may not read.
 */
export function openMember(set: SetLike, reading: CallReading): OpenMember | undefined {
  if (set instanceof SetValue) return openShape(set, set.shape, reading)
  if (!isNativeCollectionRef(set)) return openDocument(set, set, reading)
  const { session } = reading
  if (!mayReadNative(set, session)) return undefined
  return { stream: documentsStream(set, set, listedDocumentsOf(set, session), reading), isFiltered: true }
}

function openShape(set: SetValue, shape: SetShape, reading: CallReading): OpenMember | undefined {
  const { session } = reading
  switch (shape.type) {
    case 'match': {
      const found = readableIndex(shape.index, shape.terms, session)
      if (!found) return undefined
      const stream = matchStream(found.index, shape.terms, set, allDocuments, reading)
      return { stream, isFiltered: found.isFiltered }
    }
    case 'documents': {
      const { collection } = shape
      const stream = documentsStream(collection, set, listedDocumentsOf(collection, session), reading)
      return { stream, isFiltered: !mayReadAll(collection, session) }
    }
    case 'singleton':
      return openDocument(shape.ref, set, reading)
    case 'union':
    case 'intersection':
    case 'difference':
      return openCombination(shape.type, shape.sets, reading)
    case 'join':
      return openJoin(shape.source, shape.with, reading)
    case 'distinct': {
      const source = openMember(shape.source, reading)
      return source && { ...source, stream: distinctStream(source.stream) }
    }
    case 'reverse':
    case 'range':
    case 'filter': {
      const source = openMember(shape.source, reading)
      return source && { ...source, stream: partOf(source.stream, shape, reading, source.isFiltered) }
    }
    case 'events':
      throw noHistoryError(reading)
    default:
      return unreachable(shape)
  }
}

/** The error if the history of a `reverse`, `range` or `filter` set is read, or if events are read as elements. */
export function noHistoryError({ call }: CallReading) {
  return call.invalid(msg`Set does not support events history.`)
}

function isPart(shape: SetShape): shape is PartShape {
  return shape.type === 'reverse' || shape.type === 'range' || shape.type === 'filter'
}

/** `isFiltered`: `source` has elements that the caller may not read; see {@link withoutHiddenErrors}. */
function partOf(
  source: ElementStream,
  shape: PartShape,
  reading: CallReading,
  isFiltered: boolean,
): ElementStream {
  switch (shape.type) {
    case 'reverse':
      return reversedStream(source)
    case 'range': {
      const { from, to } = rangePlaces(shape.from, shape.to, source.order)
      return rangeStream(source, from, to)
    }
    case 'filter': {
      const passes = predicateOf(shape.lambda, reading)
      return filteredStream(source, isFiltered ? withoutHiddenErrors(passes, false, reading) : passes)
    }
    default:
      return unreachable(shape)
  }
}

function openDocument(document: Ref, set: SetLike, reading: CallReading): OpenMember | undefined {
  if (!mayReadHistory(document, reading.session)) return undefined
  return { stream: documentStream(document, set, reading), isFiltered: false }
}

/** Target sets that the caller may not read have no elements. */
function openJoin(source: SetLike, link: Lambda | Ref, reading: CallReading): OpenMember | undefined {
  const opened = openMember(source, reading)
  if (!opened) return undefined
  let { isFiltered } = opened
  const stream = joinStream(opened.stream, targetsOf(link, isFiltered, reading), reading, target => {
    const member = openMember(target, reading)
    isFiltered ||= member?.isFiltered === true
    return member?.stream
  })
  return { stream, isFiltered }
}

/**
 * Ignores the sets that the caller may not read. Returns undefined if the caller may read none of the sets, or may not
 * read the first set of a difference.
 */
function openCombination(
  type: 'union' | 'intersection' | 'difference',
  sets: readonly SetLike[],
  reading: CallReading,
): OpenMember | undefined {
  const opened = sets.map(set => openMember(set, reading))
  const members = opened.filter(member => member !== undefined)
  if (members.length === 0 || (type === 'difference' && !opened[0])) return undefined
  const streams = members.map(member => member.stream)
  return { stream: combined(type, streams), isFiltered: members.some(member => member.isFiltered) }
}

function combined(
  type: 'union' | 'intersection' | 'difference',
  streams: readonly ElementStream[],
): ElementStream {
  const [first, ...others] = streams as readonly [ElementStream, ...ElementStream[]]
  if (type === 'difference') return differenceStream(first, others)
  if (others.length === 0) return first
  return type === 'union' ? unionStream(streams) : intersectionStream(streams)
}

function predicateOf(lambda: Lambda, reading: CallReading) {
  return (element: Element): boolean => {
    const result = applySetLambda(lambda, elementValue(element), reading)
    if (typeof result === 'boolean') return result
    throw setLambdaError(lambda, msg`Boolean expected, ${typeName(result)} provided.`, reading)
  }
}
