// References by name, for files and for messages between processes. Here, the names of native collections begin with
// `/`, which is invalid in names of user collections, so a user collection named `keys` cannot be confused with the
// native collection `/keys`.

import {
  int64Max,
  isArray,
  isObject,
  type Json,
  Lambda,
  type NativeName,
  native,
  nativeOfKind,
  type SchemaKind,
  UnresolvedRef,
  type Value,
} from '../values/value.ts'
import { credentialsName } from './record.ts'

/** Kinds in an order in which most objects are created after the objects to which they refer. */
export const namedKinds = Object.keys(nativeOfKind) as readonly SchemaKind[]

/** Prefix of the names of native collections. */
export const nativeMark = '/'

/** Replaces the name of a deleted collection in exports. */
export const deletedCollection = 'Deleted'

/** Follows a path of names in nested JSON objects. Returns undefined when a member does not exist. */
export function memberOf(json: Json | undefined, ...names: readonly string[]): Json | undefined {
  return names.reduce<Json | undefined>(
    (inner, name) => (inner instanceof Map ? inner.get(name) : undefined),
    json,
  )
}

/** True for a value in wire form that refers to a document of a user collection. */
export function refersToDocuments(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.some(refersToDocuments)
  if (!(value instanceof Map)) return false
  const collection = memberOf(value, '@ref', 'collection', '@ref')
  if (memberOf(collection, 'collection', '@ref', 'id') === 'collections') return true
  return [...value.values()].some(refersToDocuments)
}

export function documentReference(collection: string, id: bigint): UnresolvedRef {
  return new UnresolvedRef({ type: 'document', id, collection: schemaReference('collection', collection) })
}

export function schemaReference(type: SchemaKind, name: string): UnresolvedRef {
  return new UnresolvedRef({ type, name })
}

/** Returns the name with the prefix {@link nativeMark}. */
export function nativeCollection(name: NativeName): string {
  return nativeMark + name
}

/** Returns undefined for a user collection. */
export function nativeOf(name: string): NativeName | undefined {
  if (!name.startsWith(nativeMark)) return undefined
  const rest = name.slice(1)
  return Object.hasOwn(native, rest) ? (rest as NativeName) : undefined
}

/** Native collections by their names in version 10 and in exports. */
const exportNames: ReadonlyMap<string, NativeName> = new Map<string, NativeName>([
  ['Database', 'databases'],
  ['Collection', 'collections'],
  ['Index', 'indexes'],
  ['Function', 'functions'],
  ['Role', 'roles'],
  ['AccessProvider', 'access_providers'],
  ['Key', 'keys'],
  ['Token', 'tokens'],
  ['Credential', 'credentials'],
])

/** Returns undefined for other names. */
export function nativeInExport(name: string): NativeName | undefined {
  return exportNames.get(name)
}

export function exportName(collection: NativeName): string {
  for (const [name, known] of exportNames) if (known === collection) return name
  return collection
}

const identifier = /^[0-9]{1,19}$/

/** Returns undefined when the value is not an id. */
export function readId(value: unknown): bigint | undefined {
  const text = typeof value === 'bigint' ? String(value) : value
  if (typeof text !== 'string' || !identifier.test(text)) return undefined
  const id = BigInt(text)
  return id <= int64Max ? id : undefined
}

/** Appends all references in a value to `found`, including repeated ones. */
export function referencesIn(value: Value, found: UnresolvedRef[] = []): readonly UnresolvedRef[] {
  if (value instanceof UnresolvedRef) found.push(value)
  else if (isArray(value)) for (const element of value) referencesIn(element, found)
  else if (isObject(value)) for (const field of value.values()) referencesIn(field, found)
  else if (value instanceof Lambda) referencesIn(value.body, found)
  return found
}

/** Documents to which a value refers, including repeated ones. */
export function documentsIn(value: Value): readonly { readonly collection: string; readonly id: bigint }[] {
  return referencesIn(value).flatMap(({ target }) => {
    const collection = target.type === 'document' ? target.collection.target : undefined
    return target.type === 'document' && collection?.type === 'collection'
      ? [{ collection: collection.name, id: target.id }]
      : []
  })
}

/** The user collection that must exist before a reference can be resolved. */
export function neededCollection({ target }: UnresolvedRef): string | undefined {
  const named = target.type === 'document' ? target.collection.target : target
  const isOwn = named.type === 'collection' && named.scope === undefined && nativeOf(named.name) === undefined
  return isOwn ? named.name : undefined
}

/** Formats a reference for the report. */
export function referenceText({ target }: UnresolvedRef): string {
  switch (target.type) {
    case 'document':
      return `${referenceText(target.collection)} ${target.id}`
    case 'collection':
      return target.name === credentialsName ? 'credentials' : target.name
    case 'native':
      return target.name
    case 'key':
      return `key ${target.id}`
    default:
      return `${target.type.replace('_', ' ')} ${target.name}`
  }
}
