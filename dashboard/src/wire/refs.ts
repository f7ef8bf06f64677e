// References and the other tagged values of the wire, read and built.

import { at, isMap, type Json, type Query, textAt } from './json.ts'

/** The document collections that hold everything but documents of users. */
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

/** What a reference names, as far as pages are concerned. */
export interface RefName {
  /** Name of the collection; of a native one when `isNative`. */
  readonly collection: string
  readonly isNative: boolean
  readonly id: string
  /** It lies in another database. */
  readonly isElsewhere: boolean
}

/** What a value refers to; undefined when it is no reference. */
export function refOf(value: Json | undefined): RefName | undefined {
  const ref = isMap(value) && value.size === 1 ? value.get('@ref') : undefined
  const id = textAt(ref, 'id')
  if (!isMap(ref) || id === undefined) return undefined
  const collection = ref.get('collection')
  const isElsewhere = ref.has('database')
  if (collection === undefined) return { collection: 'collections', isNative: true, id, isElsewhere }
  const inner = isMap(collection) ? collection.get('@ref') : undefined
  const name = textAt(inner, 'id')
  if (name === undefined) return undefined
  const isNative = isMap(inner) && !inner.has('collection')
  return {
    collection: name,
    isNative,
    id,
    isElsewhere: isElsewhere || (isMap(inner) && inner.has('database')),
  }
}

/** The single tag of a tagged value, such as `@ts`; undefined for everything else. */
export function tagOf(value: Json): string | undefined {
  if (!isMap(value) || value.size !== 1) return undefined
  const [name] = value.keys()
  return name?.startsWith('@') ? name : undefined
}

/** A value as an expression that evaluates to it: objects must not be taken for calls of functions. */
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
  // What is sent has the same shape as JSON that came in; only the type of plain objects is wider.
  for (const [name, member] of members) fields.set(name, literal(member) as Json)
  return { object: fields }
}

/** The id of a document in a response; empty where there is none. */
export function idOf(document: Json): string {
  return refOf(at(document, 'ref'))?.id ?? ''
}

/** The reference of a native collection. */
export function nativeRef(native: Native): Query {
  return { [native]: null }
}

/** The expression for a document of a user collection. */
export function documentRef(collection: string, id: string): Query {
  return { ref: { collection }, id }
}

const namedFunctions: Readonly<Partial<Record<Native, string>>> = {
  databases: 'database',
  collections: 'collection',
  indexes: 'index',
  functions: 'function',
  roles: 'role',
  access_providers: 'access_provider',
}

/** The expression for a schema object, a key, a token or a credential. */
export function schemaRef(native: Native, id: string): Query {
  const form = namedFunctions[native]
  return form === undefined ? { ref: nativeRef(native), id } : { [form]: id }
}
