// `isa`: which values a module stands for.

import { LocalDate, native, Time, TransactionTime, Uuid } from '../../values/value.ts'
import {
  Doc,
  EventSource,
  Id,
  isArray,
  isFunction,
  isNull,
  isNumber,
  isStruct,
  Module,
  SetCursor,
  SetValue,
  typeName,
  UserCollection,
  type Value,
} from '../value.ts'

const isDouble = (value: Value) => typeof value === 'number'

/** What modules stand for that are types. */
const types: Readonly<Record<string, (value: Value) => boolean>> = {
  Int: value => typeName(value) === 'Int',
  Long: value => typeName(value) === 'Long',
  Double: isDouble,
  Float: isDouble,
  Number: isNumber,
  String: value => typeof value === 'string',
  Boolean: value => typeof value === 'boolean',
  Bytes: value => value instanceof Uint8Array,
  Date: value => value instanceof LocalDate,
  UUID: value => value instanceof Uuid,
  ID: value => value instanceof Id,
  Array: isArray,
  Set: value => value instanceof SetValue,
  SetCursor: value => value instanceof SetCursor,
  EventSource: value => value instanceof EventSource,
  TransactionTime: value => value instanceof TransactionTime,
  Time: value => value instanceof Time,
  Null: isNull,
  Struct: isStruct,
  Object: value => isStruct(value) || value instanceof Doc || value instanceof Module,
  Doc: value => value instanceof Doc,
  Function: value => isFunction(value) || (value instanceof Doc && value.ref.collection === native.functions),
}

/** Whether a value is of the type, or in the collection, that a module stands for; others stand for themselves. */
export function isMember(value: Value, module: Module): boolean {
  const test = module.parent === undefined && !module.isUserCollection ? types[module.name] : undefined
  if (test !== undefined) return test(value)
  if (value instanceof Doc) {
    // By whatever name, and were it that of a module: a collection is told by its number.
    if (module instanceof UserCollection) return BigInt(value.ref.collection) === module.ref.id
    return !value.collection.isUserCollection && value.collection.name === module.name
  }
  if (module instanceof UserCollection) return false
  return value instanceof Module && value.name === module.name && value.parent === module.parent
}
