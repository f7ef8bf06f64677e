// Creates event sources: checks the set, the rights of the caller, and the watched fields. A request that reads events
// of the source checks the set again, and the rights of its own caller.

import { msg } from '../../base/message.ts'
import { pathText } from '../../model/schema/fault-texts.ts'
import type { Call } from '../call.ts'
import { FlatMapSet, MapSet, WhereSet } from '../sets/functional.ts'
import { type LazySet, lazy, type Origin } from '../sets/lazy-set.ts'
import {
  ArraySet,
  ConcatSet,
  DerivedSet,
  DistinctSet,
  DropSet,
  OrderSet,
  PagedSet,
  SequenceSet,
  SingleSet,
  TakeSet,
} from '../sets/parts.ts'
import { StoredSet } from '../sets/stored-set.ts'
import { pathLinks, stepOf } from '../syntax/field-paths.ts'
import { isShortLambda } from '../syntax/nodes.ts'
import { Doc, EventSource, type FunctionValue, Lambda, UserCollection, type WatchedPath } from '../value.ts'

/** A filter (`where`) of documents, or a mapping (`map`) from documents to the data of events. */
export interface SourceStep {
  readonly kind: 'where' | 'map'
  readonly apply: FunctionValue
  readonly origin: Origin
}

/** `base` is the stored set or the document. `steps` are in the order of application. */
interface SourceParts {
  readonly base: StoredSet | Doc
  readonly steps: readonly SourceStep[]
}

/** The reasons why a set does not support events, for error messages. */
const reasons = {
  at: 'streaming is not supported for sets created within an `at()` expression.',
  reversed: 'streaming is not supported on sets that have been reversed.',
  range: 'range queries are not supported yet, use `.where()` method instead.',
  native: 'only collections and user defined indexes are streamable.',
  single: 'streaming on `Set.single()` is only supported if its element is a document.',
  flatMap: 'streaming is not supported on `.flatMap()` sets.',
  concat: 'streaming is not supported on concatenated sets.',
  take: 'streaming is not supported on sets returned from `.take()`.',
  drop: 'streaming is not supported on sets returned from `.drop()`.',
  order: 'streaming is not supported on sets returned from `.order()`.',
  distinct: 'streaming is not supported on distinct sets.',
  array: 'streaming is not supported on array sets.',
  sequence: 'streaming is not supported on sets created from `Set.sequence()`.',
} as const

/**
 * Without `fields`, all changes count. `method` is the name of the called method, for errors. Throws
 * `invalid_receiver`, `permission_denied` and `invalid_argument`.
 */
export function sourceOf(
  set: LazySet,
  fields: readonly FunctionValue[],
  method: string,
  call: Call,
): EventSource {
  checkSource(set, method, call)
  if (fields.length === 0) return new EventSource(set)
  if (!(set instanceof StoredSet || set instanceof SingleSet)) {
    // As on the hosted service, the message names this method even if `eventsOn` was called.
    throw invalidReceiver('changesOn', 'it was not called on the source set.', call)
  }
  const watched = fields.map((field, index) => {
    const path = pathOf(field)
    if (path === undefined) throw call.invalidArgument(String(index), msg`invalid field path given`)
    return path
  })
  checkCovered(set, watched, call)
  return new EventSource(set, watched)
}

/** Returns whether the caller may read the document of a source. */
export function mayReadSource(document: Doc, call: Call): boolean {
  return call.evaluation.world.documents.absence(document, call)?.cause !== 'permission denied'
}

/** Throws if the set does not support events, or if the caller may read none of its documents. */
export function checkSource(set: LazySet, method: string, call: Call, mayRead = mayReadSource): void {
  const reason = reasonAgainst(set)
  if (reason !== undefined) throw invalidReceiver(method, reason, call)
  const { base } = sourcePartsOf(set)
  const { world } = call.evaluation
  if (base instanceof Doc) {
    if (mayRead(base, call)) return
    const message = msg`Insufficient privileges to create a stream on the source document.`
    throw call.failure('permission_denied', message)
  }
  const { collection } = base.options
  if (world.sets.mayReadSome(collection)) return
  const message = msg`Insufficient privileges to read from collection ${collection.name}.`
  throw call.failure('permission_denied', message)
}

function invalidReceiver(method: string, reason: string, call: Call) {
  return call.failure('invalid_receiver', msg`can't call \`.${method}()\` because ${reason}`)
}

/** Returns undefined if the set supports events. The innermost unsupported part determines the reason. */
function reasonAgainst(set: LazySet): string | undefined {
  // As on the hosted service, where `take(0)` is an empty array.
  if (set instanceof TakeSet && set.limit === 0) return reasons.array
  if (set instanceof ConcatSet) return reasonAgainst(set.first) ?? reasonAgainst(set.second) ?? reasons.concat
  if (!(set instanceof DerivedSet)) return reasonAgainstBase(set)
  return reasonAgainst(set.inner) ?? reasonAgainstStep(set)
}

function reasonAgainstStep(set: DerivedSet): string | undefined {
  if (set instanceof WhereSet || set instanceof MapSet) {
    return set.origin.at === undefined ? undefined : reasons.at
  }
  if (set instanceof PagedSet) return undefined
  if (set instanceof FlatMapSet) return reasons.flatMap
  if (set instanceof TakeSet) return reasons.take
  if (set instanceof DropSet) return reasons.drop
  if (set instanceof OrderSet) return reasons.order
  return set instanceof DistinctSet ? reasons.distinct : reasons.reversed
}

function reasonAgainstBase(set: LazySet): string | undefined {
  if (set instanceof ArraySet) return reasons.array
  if (set instanceof SequenceSet) return reasons.sequence
  if (set instanceof SingleSet) {
    if (!(set.element instanceof Doc)) return reasons.single
    return set.element.readAt === undefined ? undefined : reasons.at
  }
  if (!(set instanceof StoredSet)) return reasons.native
  const { at, collection, from, isReversed, to } = set.options
  if (at !== undefined) return reasons.at
  if (isReversed) return reasons.reversed
  if (from !== undefined || to !== undefined) return reasons.range
  return collection instanceof UserCollection ? undefined : reasons.native
}

/** {@link checkSource} must have accepted the set. */
export function sourcePartsOf(set: LazySet): SourceParts {
  const steps: SourceStep[] = []
  let each = set
  while (each instanceof DerivedSet) {
    if (each instanceof WhereSet) steps.push({ kind: 'where', apply: each.applied, origin: each.origin })
    else if (each instanceof MapSet) steps.push({ kind: 'map', apply: each.applied, origin: each.origin })
    each = each.inner
  }
  // checkSource accepts no other sets.
  const base = each instanceof SingleSet ? (each.element as Doc) : (each as StoredSet)
  return { base, steps: steps.reverse() }
}

/** Accepts short lambdas such as `.a.b[0]`. Returns undefined for any other function. */
function pathOf(field: FunctionValue): WatchedPath | undefined {
  if (!(field instanceof Lambda) || !isShortLambda(field.node)) return undefined
  const steps = pathLinks(field.node.body)?.map(link => stepOf(link)?.name)
  return steps?.includes(undefined) ? undefined : steps?.filter(step => step !== undefined)
}

/**
 * An index reports only changes of its fields: it must contain all watched fields, or `ts`, which always changes. `id`
 * never changes, so it may be watched anyway. Throws `invalid_argument`.
 */
export function checkCovered(set: StoredSet | SingleSet, watched: readonly WatchedPath[], call: Call): void {
  if (set instanceof SingleSet || set.options.index === undefined) return
  const { collection, index } = set.options
  const covered = call.evaluation.world.sets.pathsOf(collection, index).map(pathText)
  if (covered.includes('ts')) return
  const missing = watched.map(pathText).filter(path => path !== 'id' && !covered.includes(path))
  if (missing.length === 0) return
  const names = missing.map(path => `\`${path}\``).join(', ')
  throw call.invalidArgument('fields', msg`${names} not covered by the \`${index}\` index.`)
}

/** `wrap` adds the step to the set of `source`. */
export function withStep(source: EventSource, wrap: (set: LazySet) => LazySet): EventSource {
  return new EventSource(wrap(lazy(source.set)), source.watched)
}
