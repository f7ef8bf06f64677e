// Defines the parameter types, which convert arguments implicitly: a Long or a Double can become an Int, an integer or
// a decimal text can become an ID, and a text can become a cursor.

import { LocalDate, Time } from '../../values/value.ts'
import { integerOfText } from '../numbers.ts'
import {
  Doc,
  type FunctionValue,
  fitsInt,
  Id,
  integerOf,
  isArray,
  isFunction,
  isNumber,
  isStruct,
  Module,
  type NumberValue,
  SetCursor,
  SetValue,
  type Struct,
  type Value,
} from '../value.ts'
import type { Parameter } from './entry.ts'

function parameter<T>(type: string, cast: (value: Value) => T | undefined): Parameter<T> {
  return { type, cast }
}

/** Any value, including null. */
export const any: Parameter<Value> = parameter('Any', value => value)

export const string: Parameter<string> = parameter('String', value =>
  typeof value === 'string' ? value : undefined,
)

/** A JavaScript number. Accepts an Int, and a Long or a Double whose value is an integer that fits 32 bits. */
export const int: Parameter<number> = parameter('Int', value => {
  const integer = integerOf(value)
  if (integer !== undefined) return fitsInt(integer) ? Number(integer) : undefined
  return typeof value === 'number' && value === (value | 0) ? value | 0 : undefined
})

export const number: Parameter<NumberValue> = parameter('Number', value =>
  isNumber(value) ? value : undefined,
)

/** Accepts an ID, an Int, a Long or a decimal text. */
export const id: Parameter<bigint> = parameter('ID', value => {
  if (value instanceof Id) return value.value
  return typeof value === 'string' ? integerOfText(value) : integerOf(value)
})

export const array: Parameter<readonly Value[]> = parameter('Array<Any>', value =>
  isArray(value) ? value : undefined,
)

export const set: Parameter<SetValue> = parameter('Set<Any>', value =>
  value instanceof SetValue ? value : undefined,
)

/** Accepts a cursor, or its text. The text may be invalid. */
export const setCursor: Parameter<string> = parameter('SetCursor', value =>
  value instanceof SetCursor ? value.text : typeof value === 'string' ? value : undefined,
)

export const struct: Parameter<Struct> = parameter('{ *: Any }', value =>
  isStruct(value) ? value : undefined,
)

/** The document need not exist. */
export const document: Parameter<Doc> = parameter('Doc', value => (value instanceof Doc ? value : undefined))

/** Accepts a plain object, a document or a module. */
export const object: Parameter<Struct | Doc | Module> = parameter('{ *: Any }', value =>
  isStruct(value) || value instanceof Doc || value instanceof Module ? value : undefined,
)

/** A time. A TransactionTime is not accepted. */
export const time: Parameter<Time> = parameter('Time', value => (value instanceof Time ? value : undefined))

export const date: Parameter<LocalDate> = parameter('Date', value =>
  value instanceof LocalDate ? value : undefined,
)

/**
 * The number of the function's parameters is checked before the first call. Errors of this check show `name` instead of
 * the parameter's declared name.
 */
export function callback(count: number, name?: string): Parameter<FunctionValue> {
  return {
    type: 'Function',
    cast: value => (isFunction(value) ? value : undefined),
    callback: { count, name },
  }
}
