// Methods that both arrays and sets have. These methods iterate over the elements immediately, and their callbacks may
// write.

import { step } from '../../base/effort.ts'
import { type Message, msg, own } from '../../base/message.ts'
import type { Call } from '../call.ts'
import { equalElements } from '../comparison.ts'
import type { FunctionValue, Value } from '../value.ts'
import { entriesFor, type FunctionDefinition } from './entry.ts'
import { any, callback } from './parameters.ts'

interface ElementAccess<Receiver> {
  readonly noun: 'array' | 'set'
  /** Converts an array to the receiver's type in the examples. */
  readonly conversion: '' | '.toSet()'
  /** The name of the parameter of `forEach` in error messages. */
  readonly parameter: 'fn' | 'func'
  readonly isEmpty: (receiver: Receiver, call: Call) => boolean
  /** A method that reads every element passes its name as `readsAll`, for a performance hint. */
  readonly elements: (receiver: Receiver, call: Call, readsAll?: string) => Iterable<Value>
  readonly backwards: (receiver: Receiver, call: Call, readsAll?: string) => Iterable<Value>
}

/** Returns null with the given reason if there is no element. */
export function firstOf(elements: Iterable<Value>, reason: Message, call: Call): Value {
  for (const element of elements) return element
  return call.noElement(reason)
}

function foldElements(elements: Iterable<Value>, seed: Value, reducer: FunctionValue, call: Call): Value {
  let result = seed
  for (const element of elements) {
    step()
    result = call.apply(reducer, result, element)
  }
  return result
}

/** Combines neighbours in pairs, repeats this step until one value is left, and combines this value with the seed. */
function combine(elements: readonly Value[], seed: Value, combiner: FunctionValue, call: Call): Value {
  if (elements.length === 0) return seed
  let level = elements
  while (level.length > 1) {
    const next: Value[] = []
    for (let at = 0; at < level.length; at += 2) {
      step()
      const left = level[at] as Value
      next.push(at + 1 < level.length ? call.apply(combiner, left, level[at + 1] as Value) : left)
    }
    level = next
  }
  return call.apply(combiner, level[0] as Value, seed)
}

function some(elements: Iterable<Value>, test: (element: Value) => boolean): boolean {
  for (const element of elements) {
    step()
    if (test(element)) return true
  }
  return false
}

export function elementEntries<Receiver>(access: ElementAccess<Receiver>): readonly FunctionDefinition[] {
  return [...searchingEntries(access), ...combiningEntries(access)]
}

function searchingEntries<Receiver>({
  noun,
  conversion,
  isEmpty,
  elements,
  backwards,
}: ElementAccess<Receiver>) {
  const { method } = entriesFor<Receiver>()
  return [
    method('first', {
      type: '<A> () => A | Null',
      summary: `Returns the first element, or null if the ${noun} is empty.`,
      example: [`["a", "b"]${conversion}.first()`, '"a"'],
      run: (receiver, _, call) => firstOf(elements(receiver, call), msg`empty ${own(noun)}`, call),
    }),
    method('last', {
      type: '<A> () => A | Null',
      summary: `Returns the last element, or null if the ${noun} is empty.`,
      example: [`["a", "b"]${conversion}.last()`, '"b"'],
      run: (receiver, _, call) => firstOf(backwards(receiver, call), msg`empty ${own(noun)}`, call),
    }),
    method('isEmpty', {
      type: '() => Boolean',
      summary: `True if the ${noun} has no elements.`,
      example: [`[]${conversion}.isEmpty()`, 'true'],
      run: (receiver, _, call) => isEmpty(receiver, call),
    }),
    method('nonEmpty', {
      type: '() => Boolean',
      summary: `True if the ${noun} has at least one element.`,
      example: [`[]${conversion}.nonEmpty()`, 'false'],
      run: (receiver, _, call) => !isEmpty(receiver, call),
    }),
    method('includes', {
      parameters: { element: any },
      type: '<A> (element: A) => Boolean',
      summary: `True if an element of the ${noun} equals \`element\`.`,
      example: [`[1, 2]${conversion}.includes(2)`, 'true'],
      run: (receiver, { element }, call) =>
        some(elements(receiver, call, 'includes'), other => equalElements(other, element)),
    }),
    method('any', {
      parameters: { predicate: callback(1) },
      type: '<A> (predicate: (A => Boolean | Null)) => Boolean',
      summary: 'True if `predicate` returns true for at least one element.',
      example: [`[1, 2]${conversion}.any(n => n > 1)`, 'true'],
      run: (receiver, { predicate }, call) =>
        some(elements(receiver, call), element => call.test(predicate, element)),
    }),
    method('every', {
      parameters: { predicate: callback(1) },
      type: '<A> (predicate: (A => Boolean | Null)) => Boolean',
      summary: `True if \`predicate\` returns true for all elements, or if the ${noun} is empty.`,
      example: [`[1, 2]${conversion}.every(n => n > 1)`, 'false'],
      run: (receiver, { predicate }, call) =>
        !some(elements(receiver, call, 'every'), element => !call.test(predicate, element)),
    }),
  ]
}

function combiningEntries<Receiver>({
  noun,
  conversion,
  parameter,
  elements,
  backwards,
}: ElementAccess<Receiver>) {
  const { method } = entriesFor<Receiver>()
  const reduceElements = (all: Iterable<Value>, reducer: FunctionValue, call: Call): Value => {
    let result: Value | undefined
    for (const element of all) {
      step()
      result = result === undefined ? element : call.apply(reducer, result, element)
    }
    return result === undefined ? call.noElement(msg`empty ${own(noun)}`) : result
  }
  return [
    method('fold', {
      parameters: { seed: any, reducer: callback(2) },
      type: '<A, B> (seed: B, reducer: (B, A) => B) => B',
      summary:
        'Combines all elements into one value, from the first to the last. `reducer` is called with the result so far, which begins with `seed`, and the next element.',
      example: [`[1, 2]${conversion}.fold(10, (sum, n) => sum + n)`, '13'],
      run: (receiver, { seed, reducer }, call) =>
        foldElements(elements(receiver, call, 'fold'), seed, reducer, call),
    }),
    method('foldRight', {
      parameters: { seed: any, reducer: callback(2) },
      type: '<A, B> (seed: B, reducer: (B, A) => B) => B',
      summary:
        'Combines all elements into one value, from the last to the first. `reducer` is called with the result so far, which begins with `seed`, and the next element.',
      example: [`["a", "b"]${conversion}.foldRight("", (text, s) => text + s)`, '"ba"'],
      run: (receiver, { seed, reducer }, call) =>
        foldElements(backwards(receiver, call, 'foldRight'), seed, reducer, call),
    }),
    method('reduce', {
      parameters: { reducer: callback(2) },
      type: '<A> (reducer: ((A, A) => A)) => A | Null',
      summary: `Combines all elements into one value, or returns null if the ${noun} is empty. \`reducer\` is called with the result so far, which begins with the first element, and the next element.`,
      example: [`[1, 2, 3]${conversion}.reduce((sum, n) => sum + n)`, '6'],
      run: (receiver, { reducer }, call) => reduceElements(elements(receiver, call, 'reduce'), reducer, call),
    }),
    method('reduceRight', {
      parameters: { reducer: callback(2) },
      type: '<A> (reducer: ((A, A) => A)) => A | Null',
      summary: `Combines all elements into one value, or returns null if the ${noun} is empty. \`reducer\` is called with the result so far, which begins with the last element, and the element before.`,
      example: [`["a", "b"]${conversion}.reduceRight((text, s) => text + s)`, '"ba"'],
      run: (receiver, { reducer }, call) =>
        reduceElements(backwards(receiver, call, 'reduceRight'), reducer, call),
    }),
    method('aggregate', {
      parameters: { seed: any, combiner: callback(2) },
      type: '<A> (seed: A, combiner: (A, A) => A) => A',
      summary: `Combines neighbouring elements with \`combiner\` until one value is left, and then this value with \`seed\`. If the ${noun} is empty, returns \`seed\`.`,
      example: [`[1, 2, 3]${conversion}.aggregate(0, (a, b) => a + b)`, '6'],
      run: (receiver, { seed, combiner }, call) =>
        combine([...elements(receiver, call, 'aggregate')], seed, combiner, call),
    }),
    method('forEach', {
      parameters: { callback: callback(1, parameter) },
      type: '<A> (callback: (A => Any)) => Null',
      summary: 'Calls `callback` with each element. The result is null.',
      example: [`[1, 2]${conversion}.forEach(n => log(n))`, 'null'],
      run: (receiver, args, call) => {
        for (const element of elements(receiver, call, 'forEach')) {
          step()
          call.apply(args.callback, element)
        }
        return call.nullResult()
      },
    }),
  ]
}
