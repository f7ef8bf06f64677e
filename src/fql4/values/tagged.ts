// The types of values in version 4, and the names of these types in error messages.

import {
  type CollectionId,
  type DocumentValue,
  native,
  type TaggedValue,
  type Value,
} from '../../values/value.ts'
import type { Action, ElementWithSources, EventValue, Page, SetValue } from './transient.ts'

/** In the protocol, only unresolved references to roles and access providers have type names of their own. */
const refTypeNames = new Map<CollectionId, string>([
  [native.databases, 'Database Ref'],
  [native.collections, 'Collection Ref'],
  [native.indexes, 'Index Ref'],
  [native.functions, 'User Function Ref'],
  [native.keys, 'Key Ref'],
])

const unresolvedTypeNames = {
  database: 'Database Ref',
  collection: 'Collection Ref',
  index: 'Index Ref',
  function: 'User Function Ref',
  role: 'Role Ref',
  access_provider: 'Access Provider Ref',
  key: 'Key Ref',
  native: 'Collection Ref',
  document: 'Ref',
} as const

/** Returns the name of a value's type for error messages, such as `Integer` or `Collection Ref`. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'boolean':
      return 'Boolean'
    case 'bigint':
      return 'Integer'
    case 'number':
      return 'Double'
    case 'string':
      return 'String'
  }
  if (value === null) return 'Null'
  if (value instanceof Map) return 'Object'
  if (Array.isArray(value)) return 'Array'
  if (value instanceof Uint8Array) return 'Bytes'
  return taggedTypeName(value as Tagged)
}

/** The values of version 4 that are objects with a `kind`. */
export type Tagged = TaggedValue | SetValue | Action | DocumentValue | Page | EventValue | ElementWithSources

function taggedTypeName(value: Tagged): string {
  switch (value.kind) {
    case 'time':
      return 'Time'
    case 'date':
      return 'Date'
    case 'uuid':
      return 'UUID'
    case 'ref':
      return refTypeNames.get(value.collection) ?? 'Ref'
    case 'unresolved':
      return unresolvedTypeNames[value.target.type]
    case 'set':
      return 'Set'
    case 'lambda':
      return 'Lambda'
    case 'transaction time':
      return 'Unresolved Transaction Time'
    case 'action':
      return 'Action'
    case 'document':
    case 'event':
    case 'element':
      return 'Object'
    case 'page':
      return 'Page'
  }
}
