// Methods of sets that read elements at once.

import { step } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import type { Call } from '../call.ts'
import { requireExtent } from '../extent.ts'
import { MapSet, WhereSet } from '../sets/functional.ts'
import { isElement } from '../sets/items.ts'
import { elementsOf, type LazySet, lazy, originOf } from '../sets/lazy-set.ts'
import { all } from '../sets/parts.ts'
import { StoredSet } from '../sets/stored-set.ts'
import type { FunctionValue, SetValue, Value } from '../value.ts'
import { elementEntries, firstOf } from './elements.ts'
import { entriesFor, type LibraryEntry } from './entry.ts'
import { callback } from './parameters.ts'

const { method } = entriesFor<SetValue>()

function isEmpty(set: SetValue, call: Call): boolean {
  for (const item of lazy(set).items(call, undefined)) if (isElement(item)) return false
  return true
}

/** The elements. If `readsAll` names a method that reads all of them, adds a hint. */
function elements(set: SetValue, call: Call, readsAll?: string): Iterable<Value> {
  if (readsAll !== undefined) hintOfFullRead(set, readsAll, call)
  return elementsOf(set, call)
}

function filtered(set: SetValue, predicate: FunctionValue, call: Call): WhereSet {
  return new WhereSet(lazy(set), predicate, originOf(call))
}

/** Set methods that read elements. */
export const setReadingEntries: readonly LibraryEntry[] = [
  ...elementEntries<SetValue>({
    noun: 'set',
    made: '.toSet()',
    called: 'func',
    isEmpty,
    elements,
    backwards: (set, call, readsAll) => elements(lazy(set).reversed(), call, readsAll),
  }),
  method('firstWhere', {
    parameters: { predicate: callback(1, 'pred') },
    result: 'Any | Null',
    summary: 'The first element for which a predicate returns true, null when there is none.',
    example: ['[1, 2].toSet().firstWhere(n => n > 1)', '2'],
    run: (set, { predicate }, call) =>
      firstOf(elementsOf(filtered(set, predicate, call), call), msg`empty set`, call),
  }),
  method('lastWhere', {
    parameters: { predicate: callback(1, 'pred') },
    result: 'Any | Null',
    summary: 'The last element for which a predicate returns true, null when there is none.',
    example: ['[1, 2].toSet().lastWhere(n => n < 2)', '1'],
    run: (set, { predicate }, call) =>
      firstOf(elementsOf(filtered(lazy(set).reversed(), predicate, call), call), msg`empty set`, call),
  }),
  method('count', {
    result: 'Number',
    summary: 'The number of elements.',
    example: ['[1, 2].toSet().count()', '2'],
    run: (set, _, call) => {
      hintOfFullRead(set, 'count', call)
      let count = 0n
      for (const item of lazy(set).items(call, undefined)) {
        step()
        if (isElement(item)) {
          count++
          call.evaluation.compute(1)
        }
      }
      return count
    },
  }),
  method('toArray', {
    result: 'Array<Any>',
    summary: 'All elements as an array.',
    example: ['[1, 2].toSet().toArray()', '[\n  1,\n  2\n]'],
    run(set, _, call) {
      hintOfFullRead(set, 'toArray', call)
      const elements = all(lazy(set), call)
      call.evaluation.compute(elements.length)
      return requireExtent(elements, call)
    },
  }),
]

/** Adds a hint if `method` reads a set of documents completely. */
export function hintOfFullRead(set: SetValue, method: string, call: Call): void {
  if (!readsStored(lazy(set))) return
  call.evaluation.hint('full_set_read', `Using ${method}() causes the full set to be read.`, call.span)
}

function readsStored(set: LazySet): boolean {
  if (set instanceof StoredSet) return true
  return (set instanceof WhereSet || set instanceof MapSet) && readsStored(set.inner)
}
