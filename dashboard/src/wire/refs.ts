// Reads and builds references and other tagged values of wire JSON.

import { at, isMap, type Json, type Query, textAt } from './json.ts'

/** The native collections, which contain all documents outside user collections. */
export const natives = [
  'databases',
  'collections',
  'indexes',
  'functions',
  'roles',
  'keys',
  'tokens',
  'credentials',
  'access_providers',
] as const

export type Native = (typeof natives)[number]

/** The first part of the path of the page that lists the objects. */
export function sectionOf(native: Native): string {
  return native.replace('_', '-')
}

/** The title of the page that lists the objects, such as `Access providers`. */
export function titleOf(native: Native): string {
  return native.slice(0, 1).toUpperCase() + native.slice(1).replace('_', ' ')
}

/** The target of a reference. */
export interface RefName {
  /** The name of the collection, which is native if `isNative` is true. */
  readonly collection: string
  readonly isNative: boolean
  readonly id: string
  /** True if the target is in another database. */
  readonly isElsewhere: boolean
}

/** Returns undefined for other values. */
export function refOf(value: Json | undefined): RefName | undefined {
  const ref = isMap(value) && value.size === 1 ? value.get('@ref') : undefined
  const id = textAt(ref, 'id')
  if (!isMap(ref) || id === undefined) return undefined
  const collection = ref.get('collection')
  if (collection === undefined)
    return { collection: 'collections', isNative: true, id, isElsewhere: ref.has('database') }
  const inner = isMap(collection) ? collection.get('@ref') : undefined
  const name = textAt(inner, 'id')
  if (name === undefined) return undefined
  const isNative = isMap(inner) && !inner.has('collection')
  const isElsewhere = ref.has('database') || (isMap(inner) && inner.has('database'))
  return { collection: name, isNative, id, isElsewhere }
}

/** `collection` is the value of a reference; undefined for a native collection. */
export function referenceValue(id: Json, collection?: Json): Json {
  const target = new Map([['id', id]])
  if (collection !== undefined) target.set('collection', collection)
  return new Map([['@ref', target]])
}

/** Returns the reference to a user collection. */
export function collectionValue(name: string): Json {
  return referenceValue(name, referenceValue('collections'))
}

/** Returns a tag such as `@ts`; undefined for other values. */
export function tagOf(value: Json): string | undefined {
  if (!isMap(value) || value.size !== 1) return undefined
  const [name] = value.keys()
  return name?.startsWith('@') ? name : undefined
}

/** Wraps objects, because the service would evaluate plain objects as function calls. */
export function literal(value: Json): Query {
  if (Array.isArray(value)) return value.map(literal)
  if (!isMap(value)) return value
  const tag = tagOf(value)
  if (tag !== undefined && tag !== '@obj') return value
  const inner = tag === '@obj' ? value.get(tag) : undefined
  return objectLiteral(isMap(inner) ? inner : value)
}

function objectLiteral(members: ReadonlyMap<string, Json>): Query {
  const fields = new Map<string, Json>()
  // Expressions have the same shape as received JSON. Only the type `Query` also allows plain objects.
  for (const [name, member] of members) fields.set(name, literal(member) as Json)
  return { object: fields }
}

/** Returns the id of a document in a response; empty if there is none. */
export function idOf(document: Json): string {
  return refOf(at(document, 'ref'))?.id ?? ''
}

export function nativeRef(native: Native): Query {
  return { [native]: null }
}

/** Refers to a document of a user collection. */
export function documentRef(collection: string, id: string): Query {
  return { ref: { collection }, id }
}

/** The functions that refer to an object by its name. Objects of the other native collections have numeric ids. */
export const namedFunctions: Readonly<Partial<Record<Native, string>>> = {
  databases: 'database',
  collections: 'collection',
  indexes: 'index',
  functions: 'function',
  roles: 'role',
  access_providers: 'access_provider',
}

/** Returns a query for the reference to a schema object, a key, a token or a credential. */
export function schemaRef(native: Native, id: string): Query {
  const form = namedFunctions[native]
  return form === undefined ? { ref: nativeRef(native), id } : { [form]: id }
}
