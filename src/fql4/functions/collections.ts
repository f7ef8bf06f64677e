// Functions on the elements of arrays, pages and sets: `map`, `foreach`, `filter`, `take`, `append` and others. Arrays
// and pages are processed immediately. Sets are lazy: `filter` of a set returns another set. Pages retain the positions
// of their elements, and their cursors, which only `take` and `drop` change.

import { longCall } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { Pending } from '../../base/pending.ts'
import { RequestError } from '../../base/request-errors.ts'
import { isArray, type Value } from '../../values/value.ts'
import {
  anyValue,
  array,
  arrayOrPage,
  type Elements,
  integer,
  iterable,
  iterableInMemory,
  lambda,
  list,
} from '../arguments.ts'
import { type Call, define, family, unary } from '../definition.ts'
import { applyLambda, checkWidth } from '../evaluate.ts'
import type { BoundLambda } from '../expression.ts'
import { ErrorList, QueryError } from '../query-errors.ts'
import { filterSet } from '../sets/constructors.ts'
import { existsInSet } from '../sets/read.ts'
import { requireExtent } from '../value-limits.ts'
import { typeName } from '../values/tagged.ts'
import { Page } from '../values/transient.ts'

/**
 * `key` is the name of the argument with the lambda, such as `map`. `reported`: whether to throw the first error, or
 * the errors of all elements together, up to a limit.
 */
function applyToEach(
  lambda: BoundLambda,
  elements: readonly Value[],
  call: Call,
  key: string,
  reported: 'first' | 'all',
): Value[] {
  checkWidth(elements.length)
  const results: Value[] = []
  const waits = new Waits(lambda)
  const errors = new ErrorList()
  for (const element of elements) {
    try {
      results.push(applyLambda(lambda, element, call, key))
    } catch (error) {
      if (error instanceof Pending) {
        if (waits.add(error)) continue
        break
      }
      // The failure is not reported yet, because an earlier element waits for an operation and may fail, too.
      if (waits.any) break
      if (reported === 'first' || !(error instanceof QueryError)) throw error
      errors.add(error.errors)
      if (errors.isFull) break
    }
  }
  waits.throwIfAny()
  errors.throwIfAny()
  return results
}

/**
 * Collects the asynchronous results that the elements need. If a lambda throws {@link Pending}, it is still applied to
 * the next elements; then the evaluation is suspended once, until all results are available. A lambda that may write is
 * not applied to the next elements, because the writes can depend on the missing result.
 */
class Waits {
  readonly #mayContinue: boolean
  readonly #pendings: Pending[] = []
  #awaited = 0

  constructor({ lambda }: BoundLambda) {
    this.#mayContinue = lambda.effect !== 'write'
  }

  get any(): boolean {
    return this.#pendings.length > 0
  }

  /** Returns whether to continue with the next element. */
  add(pending: Pending): boolean {
    this.#pendings.push(pending)
    this.#awaited += pending.missing.length
    return this.#mayContinue && this.#awaited < limits.awaitedResultsMax
  }

  throwIfAny(): void {
    if (this.any) throw Pending.all(this.#pendings)
  }
}

function dataOf(elements: readonly Value[] | Page): readonly Value[] {
  return elements instanceof Page ? elements.data : elements
}

function map(bound: BoundLambda, elements: readonly Value[] | Page, call: Call): Value {
  const mapped = applyToEach(bound, dataOf(elements), call, 'map', 'first')
  if (!(elements instanceof Page)) return mapped
  return new Page(mapped, elements.before, elements.after, () => elements.positions)
}

function filter(bound: BoundLambda, elements: readonly Value[] | Page, call: Call): Value {
  const data = dataOf(elements)
  const passed = passing(bound, data, call)
  const chosen = data.filter((_, index) => passed[index])
  if (!(elements instanceof Page)) return chosen
  const positions = () => elements.positions.filter((_, index) => passed[index])
  return new Page(chosen, elements.before, elements.after, positions)
}

/** Reports the errors for all results that are not booleans together. */
function passing(predicate: BoundLambda, elements: readonly Value[], call: Call): readonly Value[] {
  const results = applyToEach(predicate, elements, call, 'filter', 'all')
  const errors = new ErrorList()
  for (const [index, result] of results.entries()) {
    if (typeof result === 'boolean') continue
    errors.add(call.invalid(msg`Boolean expected, ${typeName(result)} provided.`, index).errors)
    if (errors.isFull) break
  }
  errors.throwIfAny()
  return results
}

/** As in the hosted service, a negative `count` sets the cursor `after` of a page to the cursor `before`. */
function take(count: bigint, elements: readonly Value[] | Page): Value {
  const length = Math.max(0, Number(count))
  if (!(elements instanceof Page)) return elements.slice(0, length)
  const { after, before, data, positions } = elements
  const end = count < 0n ? before : (positions[length] ?? after)
  return new Page(data.slice(0, length), before, end, () => positions.slice(0, length))
}

/** A negative `count` changes nothing. */
function drop(count: bigint, elements: readonly Value[] | Page): Value {
  const length = Math.max(0, Number(count))
  if (!(elements instanceof Page)) return elements.slice(length)
  const { after, before, data, positions } = elements
  const start = count < 0n ? before : (positions[length] ?? after)
  return new Page(data.slice(length), start, after, () => positions.slice(length))
}

function join(front: readonly Value[], back: readonly Value[]): readonly Value[] {
  const length = front.length + back.length
  longCall(length)
  if (length <= limits.arrayElementsMax) return requireExtent(front.concat(back))
  const text = msg`Array exceeds max length. Max: ${limits.arrayElementsMax}, current: ${length}.`
  throw new RequestError('bad request', text)
}

function isEmpty(elements: Elements, call: Call): boolean {
  if (isArray(elements) || elements instanceof Page) return dataOf(elements).length === 0
  return !existsInSet(elements, call)
}

const isEven = '{"lambda": "n", "expr": {"equals": [{"modulo": [{"var": "n"}, 2]}, 0]}}'
const double = '{"lambda": "n", "expr": {"multiply": [{"var": "n"}, 2]}}'

export const collections = family('Elements', [
  define({
    arguments: { map: lambda, collection: iterableInMemory },
    result: 'Array or Page',
    summary:
      'Calls the lambda `map` with each element of an array or page, and returns the results. A set must first be read with `paginate`.',
    example: [`{"map": ${double}, "collection": [1, 2, 3]}`, '[2, 4, 6]'],
    evaluate: (args, call) => map(args.map, args.collection, call),
  }),
  define({
    arguments: { foreach: lambda, collection: iterableInMemory },
    result: 'Array or Page',
    summary:
      'Calls the lambda `foreach` with each element of an array or page, for example to write documents. Returns `collection` unchanged.',
    example: [`{"foreach": ${double}, "collection": [1, 2, 3]}`, '[1, 2, 3]'],
    evaluate(args, call) {
      applyToEach(args.foreach, dataOf(args.collection), call, 'foreach', 'first')
      return args.collection
    },
  }),
  define({
    arguments: { filter: lambda, collection: iterable },
    result: 'Array, Page or Set',
    summary:
      'Returns the elements for which the lambda `filter` returns true. For a set, the lambda runs when the set is read, and must not write or call user functions.',
    example: [`{"filter": ${isEven}, "collection": [1, 2, 3, 4]}`, '[2, 4]'],
    evaluate({ collection, filter: predicate }, call) {
      const atHand = isArray(collection) || collection instanceof Page
      return atHand ? filter(predicate, collection, call) : filterSet(collection, predicate, call)
    },
  }),
  define({
    arguments: { take: integer, collection: arrayOrPage },
    result: 'Array or Page',
    summary: 'Returns the first `take` elements of an array or page, or all elements if there are fewer.',
    example: ['{"take": 2, "collection": [1, 2, 3]}', '[1, 2]'],
    evaluate: args => take(args.take, args.collection),
  }),
  define({
    arguments: { drop: integer, collection: arrayOrPage },
    result: 'Array or Page',
    summary: 'Returns an array or page without its first `drop` elements.',
    example: ['{"drop": 2, "collection": [1, 2, 3]}', '[3]'],
    evaluate: args => drop(args.drop, args.collection),
  }),
  define({
    arguments: { prepend: list(anyValue), collection: array },
    result: 'Array',
    summary:
      'Returns a new array: the value or values of `prepend`, followed by the elements of `collection`.',
    example: ['{"prepend": [1, 2], "collection": [3]}', '[1, 2, 3]'],
    evaluate: args => join(args.prepend, args.collection),
  }),
  define({
    arguments: { append: list(anyValue), collection: array },
    result: 'Array',
    summary:
      'Returns a new array: the elements of `collection`, followed by the value or values of `append`.',
    example: ['{"append": [2, 3], "collection": [1]}', '[1, 2, 3]'],
    evaluate: args => join(args.collection, args.append),
  }),
  unary('is_empty', iterable, {
    result: 'Boolean',
    summary: 'True if an array, page or set has no elements.',
    example: ['[]', 'true'],
    evaluate: (elements, call) => isEmpty(elements, call),
  }),
  unary('is_nonempty', iterable, {
    result: 'Boolean',
    summary: 'True if an array, page or set has at least one element.',
    example: ['[]', 'false'],
    evaluate: (elements, call) => !isEmpty(elements, call),
  }),
])
