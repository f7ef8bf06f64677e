// What reads sets at once. Its callbacks may write: they run at the call, element by element.

import { step } from '../../base/effort.ts'
import type { Call } from '../call.ts'
import { equalElements } from '../comparison.ts'
import { requireExtent } from '../extent.ts'
import { MapSet, WhereSet } from '../sets/functional.ts'
import { all } from '../sets/parts.ts'
import { elementsOf, type LazySet, lazy, originOf } from '../sets/set.ts'
import { StoredSet } from '../sets/stored-set.ts'
import type { FunctionValue, SetValue, Value } from '../value.ts'
import { combine } from './combine.ts'
import { type Entry, entriesFor, type FunctionDefinition } from './definition.ts'
import { any, callback } from './parameters.ts'

const { method } = entriesFor<SetValue>()

function isEmpty(set: SetValue, call: Call): boolean {
  for (const item of lazy(set).items(call, undefined)) if (item.kind === 'element') return false
  return true
}

function firstOf(set: SetValue, call: Call, reason = 'empty set'): Value {
  for (const element of elementsOf(set, call)) return element
  return call.nothing(reason)
}

function folded(set: SetValue, seed: Value, reducer: FunctionValue, call: Call): Value {
  let result = seed
  for (const element of elementsOf(set, call)) {
    step()
    result = call.apply(reducer, result, element)
  }
  return result
}

function reduced(set: SetValue, reducer: FunctionValue, call: Call): Value {
  let result: Value | undefined
  for (const element of elementsOf(set, call)) {
    step()
    result = result === undefined ? element : call.apply(reducer, result, element)
  }
  return result ?? call.nothing('empty set')
}

function filtered(set: SetValue, predicate: FunctionValue, call: Call): WhereSet {
  return new WhereSet(lazy(set), predicate, originOf(call))
}

const looking = [
  method('first', {
    result: 'Any | Null',
    summary: 'The first element, null for an empty set.',
    example: ['[1, 2].toSet().first()', '1'],
    run: (set, _, call) => firstOf(set, call),
  }),
  method('last', {
    result: 'Any | Null',
    summary: 'The last element, null for an empty set.',
    example: ['[1, 2].toSet().last()', '2'],
    run: (set, _, call) => firstOf(lazy(set).reversed(), call),
  }),
  method('firstWhere', {
    parameters: { predicate: callback(1, 'pred') },
    result: 'Any | Null',
    summary: 'The first element for which a predicate holds, null when there is none.',
    example: ['[1, 2].toSet().firstWhere(n => n > 1)', '2'],
    run: (set, { predicate }, call) => firstOf(filtered(set, predicate, call), call),
  }),
  method('lastWhere', {
    parameters: { predicate: callback(1, 'pred') },
    result: 'Any | Null',
    summary: 'The last element for which a predicate holds, null when there is none.',
    example: ['[1, 2].toSet().lastWhere(n => n < 2)', '1'],
    run: (set, { predicate }, call) => firstOf(filtered(lazy(set).reversed(), predicate, call), call),
  }),
  method('isEmpty', {
    result: 'Boolean',
    summary: 'Whether there is no element.',
    example: ['[].toSet().isEmpty()', 'true'],
    run: (set, _, call) => isEmpty(set, call),
  }),
  method('nonEmpty', {
    result: 'Boolean',
    summary: 'Whether there is an element.',
    example: ['[].toSet().nonEmpty()', 'false'],
    run: (set, _, call) => !isEmpty(set, call),
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
  method('includes', {
    parameters: { element: any },
    result: 'Boolean',
    summary: 'Whether a value is among the elements.',
    example: ['[1, 2].toSet().includes(2)', 'true'],
    run: (set, { element }, call) => {
      for (const other of elementsOf(set, call)) if (equalElements(other, element)) return true
      return false
    },
  }),
  method('any', {
    parameters: { predicate: callback(1) },
    result: 'Boolean',
    summary: 'Whether a predicate holds for an element.',
    example: ['[1, 2].toSet().any(n => n > 1)', 'true'],
    run: (set, { predicate }, call) => {
      for (const element of elementsOf(set, call)) if (call.holds(predicate, element)) return true
      return false
    },
  }),
  method('every', {
    parameters: { predicate: callback(1) },
    result: 'Boolean',
    summary: 'Whether a predicate holds for all elements.',
    example: ['[1, 2].toSet().every(n => n > 1)', 'false'],
    run: (set, { predicate }, call) => {
      for (const element of elementsOf(set, call)) if (!call.holds(predicate, element)) return false
      return true
    },
  }),
]

const combining = [
  method('fold', {
    parameters: { seed: any, reducer: callback(2) },
    result: 'Any',
    summary: 'Combines a value with each element, from the front.',
    example: ['[1, 2].toSet().fold(10, (sum, n) => sum + n)', '13'],
    run: (set, { seed, reducer }, call) => folded(set, seed, reducer, call),
  }),
  method('foldRight', {
    parameters: { seed: any, reducer: callback(2) },
    result: 'Any',
    summary: 'Combines a value with each element, from the end.',
    example: ['["a", "b"].toSet().foldRight("", (text, s) => text + s)', '"ba"'],
    run: (set, { seed, reducer }, call) => folded(lazy(set).reversed(), seed, reducer, call),
  }),
  method('reduce', {
    parameters: { reducer: callback(2) },
    result: 'Any | Null',
    summary: 'Combines the first element with each one behind it; null for an empty set.',
    example: ['[1, 2, 3].toSet().reduce((sum, n) => sum + n)', '6'],
    run: (set, { reducer }, call) => reduced(set, reducer, call),
  }),
  method('reduceRight', {
    parameters: { reducer: callback(2) },
    result: 'Any | Null',
    summary: 'Combines the last element with each one before it; null for an empty set.',
    example: ['["a", "b"].toSet().reduceRight((text, s) => text + s)', '"ba"'],
    run: (set, { reducer }, call) => reduced(lazy(set).reversed(), reducer, call),
  }),
  method('aggregate', {
    parameters: { seed: any, combiner: callback(2) },
    result: 'Any',
    summary: 'Combines all elements with each other in any order, and a value at last.',
    example: ['[1, 2, 3].toSet().aggregate(0, (a, b) => a + b)', '6'],
    run: (set, { seed, combiner }, call) => combine([...elementsOf(set, call)], seed, combiner, call),
  }),
  method('forEach', {
    parameters: { callback: callback(1, 'func') },
    result: 'Null',
    summary: 'Calls a function with each element.',
    example: ['[1, 2].toSet().forEach(n => log(n))', 'null'],
    run: (set, args, call) => {
      for (const element of elementsOf(set, call)) {
        step()
        call.apply(args.callback, element)
      }
      return call.done()
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
export const setReadingEntries: readonly Entry[] = [...looking, ...combining].map(tellingOfFullReads)

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
