// Methods of lazy sets and event sources, and the module Set. Methods that return a set read nothing. All other methods
// read only the elements that they need.

import { step } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import type { Call } from '../call.ts'
import { sourceOf, withStep } from '../events/event-source.ts'
import { FlatMapSet, MapSet, WhereSet } from '../sets/functional.ts'
import { isElementOrThrow } from '../sets/items.ts'
import { elementsOf, type LazySet, lazy, originOf } from '../sets/lazy-set.ts'
import { checkSize, firstPage, nextPage } from '../sets/pages.ts'
import {
  allElements,
  ConcatSet,
  DistinctSet,
  DropSet,
  OrderSet,
  PagedSet,
  SequenceSet,
  SingleSet,
  TakeSet,
} from '../sets/parts.ts'
import { StoredSet } from '../sets/stored-set.ts'
import type { EventSource, Module, Value } from '../value.ts'
import { requireExtent } from '../value-limits.ts'
import { elementEntries, firstOf } from './elements.ts'
import { entriesFor, type LibraryEntry, type Members, members } from './entry.ts'
import { orderingsOf } from './orderings.ts'
import { any, callback, int, set, setCursor } from './parameters.ts'
import { toText } from './to-text.ts'

const { method, variadic } = entriesFor<LazySet>()

function isEmpty(set: LazySet, call: Call): boolean {
  for (const item of set.items(call, undefined)) if (isElementOrThrow(item)) return false
  return true
}

/** If `readsAll` is defined, adds a hint that the method with this name reads all elements. */
function elements(set: LazySet, call: Call, readsAll?: string): Iterable<Value> {
  if (readsAll !== undefined) addFullReadHint(set, readsAll, call)
  return elementsOf(set, call)
}

const setReadingEntries: readonly LibraryEntry[] = [
  ...elementEntries<LazySet>({
    noun: 'set',
    conversion: '.toSet()',
    parameter: 'func',
    isEmpty,
    elements,
    backwards: (set, call, readsAll) => elements(set.reversed(), call, readsAll),
  }),
  method('firstWhere', {
    parameters: { predicate: callback(1, 'pred') },
    type: '<A> (predicate: (A => Boolean | Null)) => A | Null',
    summary: 'Returns the first element for which `predicate` returns true, or null if there is none.',
    example: ['[1, 2].toSet().firstWhere(n => n > 1)', '2'],
    run: (set, { predicate }, call) =>
      firstOf(elementsOf(new WhereSet(set, predicate, originOf(call)), call), msg`empty set`, call),
  }),
  method('lastWhere', {
    parameters: { predicate: callback(1, 'pred') },
    type: '<A> (predicate: (A => Boolean | Null)) => A | Null',
    summary: 'Returns the last element for which `predicate` returns true, or null if there is none.',
    example: ['[1, 2].toSet().lastWhere(n => n < 2)', '1'],
    run: (set, { predicate }, call) =>
      firstOf(
        elementsOf(new WhereSet(set.reversed(), predicate, originOf(call)), call),
        msg`empty set`,
        call,
      ),
  }),
  method('count', {
    type: '() => Number',
    summary: 'Counts the elements. The call reads the full set.',
    example: ['[1, 2].toSet().count()', '2'],
    run: (set, _, call) => {
      addFullReadHint(set, 'count', call)
      let count = 0n
      for (const item of set.items(call, undefined)) {
        step()
        if (isElementOrThrow(item)) {
          count++
          call.evaluation.compute(1)
        }
      }
      return count
    },
  }),
  method('toArray', {
    type: '<A> () => Array<A>',
    summary: 'Reads all elements into an array.',
    example: ['[1, 2].toSet().toArray()', '[\n  1,\n  2\n]'],
    run(set, _, call) {
      addFullReadHint(set, 'toArray', call)
      const elements = allElements(set, call)
      call.evaluation.compute(elements.length)
      return requireExtent(elements, call)
    },
  }),
]

/** Adds a hint only for a collection or an index match, possibly with filters and mappings. */
function addFullReadHint(set: LazySet, method: string, call: Call): void {
  if (!readsStored(set)) return
  call.evaluation.hint('full_set_read', `Using ${method}() causes the full set to be read.`, call.span)
}

function readsStored(set: LazySet): boolean {
  if (set instanceof StoredSet) return true
  return (set instanceof WhereSet || set instanceof MapSet) && readsStored(set.inner)
}

const ofModule = entriesFor<Module>()

function takeSet(inner: LazySet, limit: number, call: Call): LazySet {
  if (limit >= 0) return new TakeSet(inner, limit)
  throw call.failure('invalid_bounds', msg`expected \`limit\` to be greater than 0, received ${limit}`)
}

const setReturningEntries = [
  method('where', {
    parameters: { predicate: callback(1, 'pred') },
    type: '<A> (predicate: (A => Boolean | Null)) => Set<A>',
    summary:
      'Returns the set of the elements for which `predicate` returns true. A result of null counts as false.',
    example: ['[1, 2].toSet().where(n => n > 1).toArray()', '[\n  2\n]'],
    run: (inner, { predicate }, call) => new WhereSet(inner, predicate, originOf(call)),
  }),
  method('map', {
    parameters: { mapper: callback(1) },
    type: '<A, B> (mapper: (A => B)) => Set<B>',
    summary:
      'Returns the set of the results of `mapper` for each element. `mapper` is called when the set is read.',
    example: ['[1, 2].toSet().map(n => n + 1).toArray()', '[\n  2,\n  3\n]'],
    run: (inner, { mapper }, call) => new MapSet(inner, mapper, originOf(call)),
  }),
  method('flatMap', {
    parameters: { mapper: callback(1) },
    type: '<A, B> (mapper: (A => Set<B>)) => Set<B>',
    summary:
      'Returns the set of all elements of the sets that `mapper` returns. `mapper` is called with each element when the set is read.',
    example: ['[1, 2].toSet().flatMap(n => [n, n].toSet()).toArray()', '[\n  1,\n  1,\n  2,\n  2\n]'],
    run: (inner, { mapper }, call) => new FlatMapSet(inner, mapper, originOf(call)),
  }),
  variadic('order', {
    rest: ['ordering', any],
    type: '<A> (ordering: ...(A => Any) | { asc: A => Any } | { desc: A => Any }) => Set<A>',
    summary:
      'Sorts the elements. Each argument is a function that returns the sort key, or the result of `asc` or `desc`; without arguments, the elements are sorted by their own values.',
    example: ['[3, 1].toSet().order(asc(n => n)).toArray()', '[\n  1,\n  3\n]'],
    run(inner, args, call) {
      addFullReadHint(inner, 'order', call)
      return new OrderSet(inner, orderingsOf(args, call), originOf(call))
    },
  }),
  method('distinct', {
    type: '<A> () => Set<A>',
    summary: 'Returns the elements without duplicates, in ascending order.',
    example: ['[2, 1, 2].toSet().distinct().toArray()', '[\n  1,\n  2\n]'],
    run(inner, _, call) {
      addFullReadHint(inner, 'distinct', call)
      return new DistinctSet(inner)
    },
  }),
  method('concat', {
    parameters: { other: set },
    type: '<A, B> (other: Set<B>) => Set<A | B>',
    summary: 'Returns the elements of this set, followed by the elements of `other`.',
    example: ['[1].toSet().concat([2].toSet()).toArray()', '[\n  1,\n  2\n]'],
    run: (inner, { other }) => new ConcatSet(inner, lazy(other)),
  }),
  method('take', {
    parameters: { limit: int },
    type: '<A> (limit: Number) => Set<A>',
    summary:
      'Returns the first `limit` elements, or all elements if there are fewer. A negative `limit` is an error.',
    example: ['[1, 2, 3].toSet().take(2).toArray()', '[\n  1,\n  2\n]'],
    run: (inner, { limit }, call) => takeSet(inner, limit, call),
  }),
  method('drop', {
    parameters: { amount: int },
    type: '<A> (amount: Number) => Set<A>',
    summary: 'Returns the set without its first `amount` elements.',
    example: ['[1, 2, 3].toSet().drop(2).toArray()', '[\n  3\n]'],
    run: (inner, { amount }) => new DropSet(inner, amount),
  }),
  method('reverse', {
    type: '<A> () => Set<A>',
    summary: 'Returns the elements in reverse order.',
    example: ['[1, 2].toSet().reverse().toArray()', '[\n  2,\n  1\n]'],
    run: inner => inner.reversed(),
  }),
  method('pageSize', {
    parameters: { size: int },
    type: '<A> (size: Number) => Set<A>',
    summary: 'Returns the same set with pages of `size` elements.',
    example: ['[1, 2].toSet().pageSize(1).count()', '2'],
    run: (inner, { size }, call) => new PagedSet(inner, checkSize(size, call)),
  }),
  method('toSet', {
    type: '<A> () => Set<A>',
    summary: 'Returns the set itself.',
    example: ['[1].toSet().toSet().count()', '1'],
    run: inner => inner,
  }),
]

function sourceMethod(name: 'eventSource' | 'toStream') {
  return method(name, {
    type: '<A> () => EventSource<A>',
    summary:
      'Returns an event source for the changes of the set from now on, for event feeds and event streams.',
    example: [`Author.all().${name}().toString()`, '"[event source]"'],
    run: (inner, _, call) => sourceOf(inner, [], name, call),
  })
}

function fieldSourceMethod(name: 'eventsOn' | 'changesOn') {
  return variadic(name, {
    rest: ['field', callback(1)],
    type: '<A> (fields: ...A => Any) => EventSource<A>',
    summary:
      'Returns an event source for the changes of the given fields from now on, for event feeds and event streams. Without arguments, the source contains all changes.',
    example: [`Author.all().${name}(.name).toString()`, '"[event source]"'],
    run: (inner, fields, call) => sourceOf(inner, fields, name, call),
  })
}

const eventSourceEntries = [
  sourceMethod('eventSource'),
  sourceMethod('toStream'),
  fieldSourceMethod('eventsOn'),
  fieldSourceMethod('changesOn'),
]

const pagingEntries = [
  method('paginate', {
    optional: { size: int },
    type: '<A> (() => { data: Array<A>, after: String | Null }) & ((size: Number) => { data: Array<A>, after: String | Null })',
    summary:
      'Reads the first page of `size` elements, or of the page size of the set if `size` is missing. Returns an object with `data` and, if there may be more elements, the cursor `after`.',
    example: ['[1, 2].toSet().paginate(2)', '{\n  data: [\n    1,\n    2\n  ]\n}'],
    run: (inner, { size }, call) => firstPage(inner, size, call),
  }),
  toText('[1].toSet().toString()', '"[set]"', 'Returns the string `[set]`.'),
]

export const setMembers: Members = members('Set', [
  ...setReturningEntries,
  ...setReadingEntries,
  ...eventSourceEntries,
  ...pagingEntries,
])

export const setModule: Members = members('Set', [
  ofModule.method('single', {
    parameters: { element: any },
    type: '<A> (element: A) => Set<A>',
    summary: 'Returns a set that contains only `element`.',
    example: ['Set.single(1).toArray()', '[\n  1\n]'],
    run: (_, { element }) => new SingleSet(element),
  }),
  ofModule.method('sequence', {
    parameters: { from: int, until: int },
    type: '(from: Number, until: Number) => Set<Number>',
    summary: 'Returns the set of the integers from `from` up to, but not including, `until`.',
    example: ['Set.sequence(1, 3).toArray()', '[\n  1,\n  2\n]'],
    run: (_, { from, until }) => new SequenceSet(from, until),
  }),
  ofModule.method('paginate', {
    parameters: { cursor: setCursor },
    optional: { size: int },
    type: '((cursor: String | SetCursor) => { data: Array<Any>, after: String | Null }) & ((cursor: String | SetCursor, size: Number) => { data: Array<Any>, after: String | Null })',
    summary:
      'Reads the page at `cursor`. Returns an object with `data` and, if there may be more elements, the cursor `after`; if `size` is missing, the page has the size of the previous page.',
    example: ['Set.paginate([1, 2].toSet().paginate(1).after!)', '{\n  data: [\n    2\n  ]\n}'],
    run: (_, { cursor, size }, call) => nextPage(cursor, size, call),
  }),
])

const ofSource = entriesFor<EventSource>()

/** Unlike sets, event sources cannot be sorted or concatenated. */
export const eventSourceMembers: Members = members('EventSource', [
  ofSource.method('where', {
    parameters: { predicate: callback(1, 'pred') },
    type: '<A> (predicate: (A => Boolean | Null)) => EventSource<A>',
    summary: 'Returns an event source with only the events of elements for which `predicate` returns true.',
    example: ['Author.all().eventSource().where(.name == "Ann").toString()', '"[event source]"'],
    run: (source, { predicate }, call) =>
      withStep(source, set => new WhereSet(set, predicate, originOf(call))),
  }),
  ofSource.method('map', {
    parameters: { mapper: callback(1) },
    type: '<A, B> (mapper: (A => B)) => EventSource<B>',
    summary: 'Returns an event source whose events contain the results of `mapper` instead of the elements.',
    example: ['Author.all().eventSource().map(.name).toString()', '"[event source]"'],
    run: (source, { mapper }, call) => withStep(source, set => new MapSet(set, mapper, originOf(call))),
  }),
  toText('Author.all().eventSource().toString()', '"[event source]"', 'Returns the string `[event source]`.'),
])
