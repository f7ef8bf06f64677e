// The types of function arguments. Each type checks a value and throws an error if the value is invalid. The protocol
// defines the error texts.

import { step } from '../base/effort.ts'
import { msg } from '../base/message.ts'
import { type TimeUnit, timeFromMicros, timeUnit } from '../values/time.ts'
import { trimBlanks } from '../values/trim.ts'
import {
  isArray,
  isObject,
  LocalDate,
  native,
  type ObjectValue,
  Ref,
  Time,
  TransactionTime,
  UnresolvedRef,
  type Value,
} from '../values/value.ts'
import { type ArgumentType, type Call, type Lazy, mismatch, undefinedReference } from './definition.ts'
import type { BoundLambda } from './expression.ts'
import { ErrorList, QueryError } from './query-errors.ts'
import { isSet, Page, type SetLike, SetValue } from './values/transient.ts'

/** `rejected` creates the error for values that `accepts` rejects. Its text names the type `expected`. */
function valueType<T extends Value>(
  name: string,
  accepts: (value: Value) => value is T,
  expected = name,
  rejected: typeof argumentError = mismatch,
): ArgumentType<T> {
  return {
    mode: 'value',
    name,
    check(value, call, key) {
      if (accepts(value)) return value
      throw rejected(expected, value, call, key)
    },
  }
}

export const anyValue: ArgumentType<Value> = { mode: 'value', name: 'Any', check: value => value }
export const string = valueType('String', value => typeof value === 'string')
export const integer = valueType('Integer', value => typeof value === 'bigint')
export const number = valueType('Number', value => typeof value === 'bigint' || typeof value === 'number')
export const boolean = valueType('Boolean', value => typeof value === 'boolean')
export const nullArgument = valueType('Null', value => value === null)
export const array = valueType('Array', isArray)
export const object: ArgumentType<ObjectValue> = valueType('Object', isObject)
export const time: ArgumentType<Time> = {
  mode: 'value',
  name: 'Time',
  check(value, call, key) {
    if (value instanceof Time) return value
    if (typeof value === 'bigint') return timeFromMicros(value)
    throw mismatch('Time', value, call, key)
  },
}
/** The time as of which data is read. A {@link TransactionTime} means the present. */
export const transactionTime: ArgumentType<Time | TransactionTime> = {
  mode: 'value',
  name: 'Time',
  check(value, call, key) {
    return value instanceof TransactionTime ? value : time.check(value, call, key)
  },
}
export const temporal = valueType('Temporal', value => value instanceof Time || value instanceof LocalDate)

/** A unit of time, and the unit's name as written in the query. */
export interface NamedTimeUnit {
  readonly unit: TimeUnit
  readonly words: string
}

/** Surrounding blanks are ignored. */
export const unitOfTime: ArgumentType<NamedTimeUnit> = {
  mode: 'value',
  name: 'Time Unit',
  check(value, call, key) {
    const words = typeof value === 'string' ? trimBlanks(value) : undefined
    const unit = words === undefined ? undefined : timeUnit(words)
    if (words === undefined || unit === undefined) throw mismatch('Time Unit', value, call, key)
    return { unit, words }
  },
}

export const scalar = valueType('Scalar', isScalar)

/** False for arrays, objects, documents, pages and their elements with sources, sets, lambdas and events. */
export function isScalar(value: Value): value is Value {
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return true
  if (value instanceof Map || isArray(value)) return false
  const { kind } = value as Exclude<typeof value, ReadonlyMap<string, Value>>
  return !['set', 'lambda', 'document', 'page', 'event', 'element'].includes(kind)
}

/** Creates the error `invalid ref` for an unresolved reference, and a {@link mismatch} for other values. */
function argumentError(expected: string, value: Value, call: Call, key: string): QueryError {
  if (value instanceof UnresolvedRef) return undefinedReference(value, call, key)
  return mismatch(expected, value, call, key)
}

/** Like {@link valueType}, but an unresolved reference causes `invalid ref`. */
function referringType<T extends Value>(
  name: string,
  accepts: (value: Value) => value is T,
  expected = name,
): ArgumentType<T> {
  return valueType(name, accepts, expected, argumentError)
}

const isRefTo =
  (collection: number) =>
  (value: Value): value is Ref =>
    value instanceof Ref && value.collection === collection
const isDatabaseRef = isRefTo(native.databases)

/**
 * References. `ref` accepts references to all documents. The other types accept references to one kind of schema
 * object.
 */
export const ref = referringType('Ref', value => value instanceof Ref)
export const collectionRef = referringType('Collection Ref', isRefTo(native.collections))
export const databaseRef = referringType('Database Ref', isDatabaseRef)
export const indexRef = referringType('Index Ref', isRefTo(native.indexes))

/** A reference to a database, or null for the database of the request. */
export const databaseRefOrNull = referringType(
  'Database Ref or Null',
  value => value === null || isDatabaseRef(value),
)

export const identifier: ArgumentType<SetLike> = referringType(
  'Ref or Set',
  value => value instanceof Ref || value instanceof SetValue,
)

/** A set, or a reference to a native collection. Native collections are sets. */
export const set: ArgumentType<SetLike> = {
  mode: 'value',
  name: 'Set',
  check(value, call, key) {
    if (isSet(value)) return value
    throw argumentError(value instanceof Ref ? 'Set' : 'Ref or Set', value, call, key)
  },
}

export type Elements = readonly Value[] | Page | SetLike

export const iterable: ArgumentType<Elements> = referringType(
  'Array, Set, or Page',
  (value): value is Elements => isArray(value) || value instanceof Page || isSet(value),
)

export const arrayOrPage = valueType('Array or Page', value => isArray(value) || value instanceof Page)

/** For a set, the text is `Array or Page expected, Set provided.` Other errors are those of {@link iterable}. */
export const iterableInMemory: ArgumentType<readonly Value[] | Page> = {
  mode: 'value',
  name: 'Array or Page',
  check(value, call, key) {
    const elements = iterable.check(value, call, key)
    if (isArray(elements) || elements instanceof Page) return elements
    throw call.invalid(msg`Array or Page expected, Set provided.`, key)
  },
}

export const setOrArray: ArgumentType<readonly Value[] | SetLike> = {
  mode: 'value',
  name: 'Set or Array',
  check(value, call, key) {
    const elements = iterable.check(value, call, key)
    if (elements instanceof Page) throw mismatch('Set or Array', value, call, key)
    return elements
  },
}

/** The called function checks the kind of the reference. */
export const nameOrRef = referringType(
  'String or Ref',
  value => typeof value === 'string' || value instanceof Ref,
  'Identifier',
)

/**
 * An array of values of the type `element`, or a single value of this type. The errors of all invalid elements are
 * reported, up to a limit.
 */
export function list<T>(element: ArgumentType<T>): ArgumentType<readonly T[]> {
  return {
    mode: 'value',
    name: `${element.name} or Array of ${element.name}`,
    check(value, call, key) {
      if (!isArray(value)) return [element.check(value, call, key)]
      const checked = new Array<T>(value.length)
      let errors: ErrorList | undefined
      for (let index = 0; index < value.length && !errors?.isFull; index++) {
        step()
        try {
          checked[index] = element.check(value[index] as Value, call, key)
        } catch (error) {
          if (!(error instanceof QueryError)) throw error
          errors ??= new ErrorList()
          // `check` reports the position of the list. The index of the element completes the position.
          for (const entry of error.errors) errors.add([{ ...entry, position: [...entry.position, index] }])
        }
      }
      errors?.throwIfAny()
      return checked
    },
  }
}

export function nonEmptyList<T>(element: ArgumentType<T>): ArgumentType<readonly T[]> {
  const elements = list(element)
  return {
    ...elements,
    check(value, call, key) {
      if (isArray(value) && value.length === 0) throw call.invalid(msg`Non-empty array expected.`, key)
      return elements.check(value, call, key)
    },
  }
}

/** A step of a path: the name of a field, or the index of an element. */
export type PathStep = string | bigint

export const path: ArgumentType<readonly PathStep[]> = list(
  valueType('String or Integer', value => typeof value === 'string' || typeof value === 'bigint'),
)

const notAValue = (): never => {
  throw new TypeError('an unevaluated argument is not checked as a value')
}

/** An expression that the called function evaluates, possibly several times or not at all. */
export const lazy: ArgumentType<Lazy> = { mode: 'lazy', name: 'Expression', check: notAValue }

/** A single expression, or an array literal with at least one expression. */
export const lazyList: ArgumentType<readonly Lazy[]> = {
  mode: 'lazy list',
  name: 'Expressions',
  check: notAValue,
}

/** An array literal with at least one expression. */
export const lazySequence: ArgumentType<readonly Lazy[]> = { ...lazyList, mode: 'lazy sequence' }

/** A lambda literal. */
export const lambda: ArgumentType<BoundLambda> = { mode: 'lambda', name: 'Lambda', check: notAValue }
