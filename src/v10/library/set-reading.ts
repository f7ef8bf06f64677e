// What reads sets at once.

import { step } from '../../base/effort.ts'
import type { Call } from '../call.ts'
import { requireExtent } from '../extent.ts'
import { MapSet, WhereSet } from '../sets/functional.ts'
import { all } from '../sets/parts.ts'
import { elementsOf, type LazySet, lazy, originOf } from '../sets/set.ts'
import { StoredSet } from '../sets/stored-set.ts'
import type { FunctionValue, SetValue } from '../value.ts'
import { type Entry, entriesFor, type FunctionDefinition } from './definition.ts'
import { elementEntries, firstOf } from './elements.ts'
import { callback } from './parameters.ts'

const { method } = entriesFor<SetValue>()

function isEmpty(set: SetValue, call: Call): boolean {
  for (const item of lazy(set).items(call, undefined)) if (item.kind === 'element') return false
  return true
}

function filtered(set: SetValue, predicate: FunctionValue, call: Call): WhereSet {
  return new WhereSet(lazy(set), predicate, originOf(call))
}

const entries = [
  ...elementEntries<SetValue>({
    noun: 'set',
    made: '.toSet()',
    called: 'func',
    isEmpty,
    elements: elementsOf,
    backwards: (set, call) => elementsOf(lazy(set).reversed(), call),
  }),
  method('firstWhere', {
    parameters: { predicate: callback(1, 'pred') },
    result: 'Any | Null',
    summary: 'The first element for which a predicate holds, null when there is none.',
    example: ['[1, 2].toSet().firstWhere(n => n > 1)', '2'],
    run: (set, { predicate }, call) =>
      firstOf(elementsOf(filtered(set, predicate, call), call), 'empty set', call),
  }),
  method('lastWhere', {
    parameters: { predicate: callback(1, 'pred') },
    result: 'Any | Null',
    summary: 'The last element for which a predicate holds, null when there is none.',
    example: ['[1, 2].toSet().lastWhere(n => n < 2)', '1'],
    run: (set, { predicate }, call) =>
      firstOf(elementsOf(filtered(lazy(set).reversed(), predicate, call), call), 'empty set', call),
  }),
  method('count', {
    result: 'Number',
    summary: 'The number of elements.',
    example: ['[1, 2].toSet().count()', '2'],
    run: (set, _, call) => {
      let count = 0n
      for (const item of lazy(set).items(call, undefined)) {
        step()
        if (item.kind === 'element') {
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
      const elements = all(lazy(set), call)
      call.evaluation.compute(elements.length)
      return requireExtent(elements, call)
    },
  }),
]

/** What reads a set to its end. */
const readingAll = new Set([
  'aggregate',
  'count',
  'every',
  'fold',
  'foldRight',
  'forEach',
  'includes',
  'reduce',
  'reduceRight',
  'toArray',
])

/** The entries of sets that read them. */
export const setReadingEntries: readonly Entry[] = entries.map(tellingOfFullReads)

/** Hints that a function reads all of what a collection or an index holds. */
function tellingOfFullReads(entry: FunctionDefinition): FunctionDefinition {
  if (!readingAll.has(entry.name)) return entry
  const signatures = entry.signatures.map(each => ({
    ...each,
    run(receiver: never, args: never, call: Call) {
      hintOfFullRead(receiver, entry.name, call)
      return each.run(receiver, args, call)
    },
  }))
  return { ...entry, signatures }
}

/** Hints that `method` reads a set to its end, where that is one of documents. */
export function hintOfFullRead(set: SetValue, method: string, call: Call): void {
  if (!readsStored(lazy(set))) return
  call.evaluation.hint('full_set_read', `Using ${method}() causes the full set to be read.`, call.span)
}

function readsStored(set: LazySet): boolean {
  if (set instanceof StoredSet) return true
  return (set instanceof WhereSet || set instanceof MapSet) && readsStored(set.inner)
}
