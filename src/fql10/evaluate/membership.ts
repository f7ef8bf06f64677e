// Implements `isa`: tests a value against the type or collection of a module.

import { native } from '../../values/value.ts'
import {
  Doc,
  EventSource,
  isArray,
  isFunction,
  isNumber,
  isStruct,
  Module,
  SetValue,
  typeName,
  UserCollection,
  type Value,
} from '../value.ts'

const isDouble = (value: Value) => typeof value === 'number'

const hasTypeName = (name: string) => (value: Value) => !(value instanceof Module) && typeName(value) === name

const namedTypes = 'Boolean Bytes Date Doc ID Int Long Null SetCursor String Time TransactionTime UUID'

/** Tests for the modules that are types. */
const types: Readonly<Record<string, (value: Value) => boolean>> = {
  ...Object.fromEntries(namedTypes.split(' ').map(name => [name, hasTypeName(name)])),
  Double: isDouble,
  Float: isDouble,
  Number: isNumber,
  Array: isArray,
  Set: value => value instanceof SetValue,
  EventSource: value => value instanceof EventSource,
  Struct: isStruct,
  Object: value => isStruct(value) || value instanceof Doc || value instanceof Module,
  Function: value => isFunction(value) || (value instanceof Doc && value.ref.collection === native.functions),
}

/** True if a value has the type, or is in the collection, of a module. Other modules contain only themselves. */
export function isMember(value: Value, module: Module): boolean {
  const test = module.parent === undefined && !module.isUserCollection ? types[module.name] : undefined
  if (test !== undefined) return test(value)
  if (value instanceof Doc) {
    // Collections are compared by number: a collection has several names, and a user collection may have the name of a
    // built-in module.
    if (module instanceof UserCollection) return BigInt(value.ref.collection) === module.ref.id
    return !value.collection.isUserCollection && value.collection.name === module.name
  }
  if (module instanceof UserCollection) return false
  return value instanceof Module && value.name === module.name && value.parent === module.parent
}
