// Aggregates compute a single value from many elements. A set is streamed, not held in memory (exception: `reduce` with
// a lambda that writes). For a page, the result is a page that contains only this value, with the cursors of the
// original page.

import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { compareValues } from '../../values/order.ts'
import { isArray, type Value } from '../../values/value.ts'
import { anyValue, boolean, type Elements, iterable, lambda, number } from '../arguments.ts'
import { add, type Num } from '../arithmetic.ts'
import { type ArgumentType, type Call, define, family, unary } from '../definition.ts'
import { applyLambda } from '../evaluate.ts'
import { elementsOf } from '../sets/read.ts'
import { Page, SetValue } from '../values/transient.ts'
import { requireOrdered } from './comparison.ts'

type Aggregate = (elements: Iterable<Value>, call: Call, key: string) => Value

/** If reading a set fails, the error has the position of the argument `key`. */
function aggregateOf(collection: Elements, aggregate: Aggregate, call: Call, key: string): Value {
  if (isArray(collection)) return aggregate(collection, call, key)
  if (!(collection instanceof Page)) return aggregate(elementsOf(collection, call, key), call, key)
  const { after, before, data } = collection
  // In the result, the position of the value is the position of the first aggregated element.
  return new Page([aggregate(data, call, key)], before, after, () => collection.positions.slice(0, 1))
}

/** Checks the type of each element and yields the element. Each element costs one compute unit. */
function* checked<T>(
  type: ArgumentType<T>,
  elements: Iterable<Value>,
  call: Call,
  key: string,
): Generator<T, void, undefined> {
  for (const element of elements) {
    call.session.compute(1)
    yield type.check(element, call, key)
  }
}

const count: Aggregate = (elements, call, key) => {
  let total = 0n
  for (const _ of checked(anyValue, elements, call, key)) total++
  return total
}

const sum: Aggregate = (elements, call, key) => {
  let total: Num = 0n
  for (const element of checked(number, elements, call, key)) total = add(total, element)
  return total
}

/** The mean. The sum of integers is exact, even beyond 64 bits. From the first double on, the sum is a double. */
const mean: Aggregate = (elements, call, key) => {
  let total: Num = 0n
  let length = 0
  for (const element of checked(number, elements, call, key)) {
    total =
      typeof total === 'bigint' && typeof element === 'bigint'
        ? total + element
        : Number(total) + Number(element)
    length++
  }
  if (length === 0) throw call.invalid(msg`Non-empty array expected.`, key)
  return Number(total) / length
}

/** Implements `any` and `all`. Checks the types of all elements, also after the first that equals `decisive`. */
function deciding(decisive: boolean): Aggregate {
  return (elements, call, key) => {
    let decided = false
    for (const element of checked(boolean, elements, call, key)) decided ||= element === decisive
    return decided === decisive
  }
}

/** `direction`: 1 for the greatest element, -1 for the least. Of equal elements, the last one counts. */
function extreme(direction: 1 | -1): Aggregate {
  return (elements, call, key) => {
    // Only arrays can contain unresolved references. Elements of sets are stored values, which contain none.
    if (Array.isArray(elements)) call.session.metered(() => requireOrdered(elements, call, key))
    let chosen: Value | undefined
    for (const element of elements) {
      const current = chosen
      const isBetter = () => current === undefined || compareValues(element, current) * direction >= 0
      if (call.session.metered(isBetter)) chosen = element
    }
    if (chosen === undefined) throw call.invalid(msg`Non-empty array expected.`, key)
    return chosen
  }
}

/** Unwraps an array whose only element is an array, page or set, as the hosted service did for `max` and `min`. */
function unwrapped(collection: Elements): Elements {
  if (!isArray(collection) || collection.length !== 1) return collection
  const [only] = collection as readonly [Value]
  return isArray(only) || only instanceof Page || only instanceof SetValue ? only : collection
}

/** Number of elements for which the calls of a lambda always exceed the compute limit of a query. */
const applicationsMax = limits.computeOpsMax * limits.computeUnitsPerOp + 1

/**
 * Reads all elements before the first call of a lambda that writes, because the lambda could add elements to the set.
 * Stops after {@link applicationsMax} elements, because the query will then exceed its compute limit.
 */
function readAll(elements: Iterable<Value>): readonly Value[] {
  return Iterator.from(elements).take(applicationsMax).toArray()
}

function aggregateFunction(
  name: string,
  result: string,
  summary: string,
  example: readonly [elements: string, exampleResult: string],
  aggregate: Aggregate,
  prepare: (collection: Elements) => Elements = collection => collection,
) {
  return unary(name, iterable, {
    effect: 'read',
    result,
    summary: `${summary} For a page, the result is a page that contains only this value.`,
    example,
    evaluate: (elements, call) => aggregateOf(prepare(elements), aggregate, call, name),
  })
}

export const aggregates = family('Aggregates', [
  define({
    effect: 'read',
    arguments: { reduce: lambda, initial: anyValue, collection: iterable },
    result: 'Any',
    summary:
      'Combines all elements into one value. The lambda `reduce` is called with the result so far, which begins with `initial`, and the next element. For a page, the result is a page that contains only this value.',
    example: [
      '{"reduce": {"lambda": ["sum", "n"], "expr": {"add": [{"var": "sum"}, {"var": "n"}]}}, "initial": 10, "collection": [1, 2, 3]}',
      '16',
    ],
    evaluate({ collection, initial, reduce: bound }, call) {
      const folding: Aggregate = elements => {
        let value = initial
        for (const element of bound.lambda.effect === 'write' ? readAll(elements) : elements)
          value = applyLambda(bound, [value, element], call, 'reduce')
        return value
      }
      return aggregateOf(collection, folding, call, 'reduce')
    },
  }),
  aggregateFunction(
    'count',
    'Integer',
    'Counts the elements of an array or set.',
    ['[1, null, "x"]', '3'],
    count,
  ),
  aggregateFunction(
    'sum',
    'Number',
    'Adds all elements of an array or set, which must be numbers. The sum of no elements is 0.',
    ['[1, 2, 3.5]', '6.5'],
    sum,
  ),
  aggregateFunction(
    'mean',
    'Double',
    'Returns the average of the elements of an array or set, which must be numbers. An empty array or set is an error.',
    ['[1, 2]', '1.5'],
    mean,
  ),
  aggregateFunction(
    'max',
    'Any',
    'Returns the greatest element of an array or set. Values of different types are ordered by type; an empty array or set is an error.',
    ['[1, 3, 2]', '3'],
    extreme(1),
    unwrapped,
  ),
  aggregateFunction(
    'min',
    'Any',
    'Returns the least element of an array or set. Values of different types are ordered by type; an empty array or set is an error.',
    ['[2, 1, 3]', '1'],
    extreme(-1),
    unwrapped,
  ),
  aggregateFunction(
    'any',
    'Boolean',
    'True if at least one element is true. All elements must be booleans.',
    ['[false, true]', 'true'],
    deciding(true),
  ),
  aggregateFunction(
    'all',
    'Boolean',
    'True if all elements are true, or if there are no elements. All elements must be booleans.',
    ['[false, true]', 'false'],
    deciding(false),
  ),
])
