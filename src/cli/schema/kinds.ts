// The kinds of schema objects that are kept as files.

import type { Json } from '../../values/value.ts'

/** A kind of schema object. */
export interface Kind {
  /** For messages: `access provider`. */
  readonly name: string
  /** The folder of its files, and the wire key that lists its objects. */
  readonly listing: string
  /** The wire key that makes one of it, and the function of that name in text. */
  readonly create: string
  readonly createName: string
  /** The wire key that refers to one of it. */
  readonly reference: string
  /** Fields that the service adds, with their initial values; undefined for those that cannot be set. */
  readonly given: ReadonlyMap<string, Json | undefined>
  /** Fields in which a difference means that the object has to be made again; all others can be changed. */
  readonly fixed: ReadonlySet<string>
}

/** In the order in which they are made: each may refer to the ones before it. */
export const kinds: readonly Kind[] = [
  {
    name: 'collection',
    listing: 'collections',
    create: 'create_collection',
    createName: 'CreateCollection',
    reference: 'collection',
    given: new Map<string, Json>([['history_days', 30n]]),
    fixed: new Set(),
  },
  {
    name: 'index',
    listing: 'indexes',
    create: 'create_index',
    createName: 'CreateIndex',
    reference: 'index',
    given: new Map<string, Json | undefined>([
      ['active', undefined],
      ['partitions', undefined],
      ['serialized', true],
      ['unique', false],
    ]),
    fixed: new Set(['source', 'terms', 'values', 'unique', 'serialized']),
  },
  {
    name: 'function',
    listing: 'functions',
    create: 'create_function',
    createName: 'CreateFunction',
    reference: 'function',
    given: new Map(),
    fixed: new Set(),
  },
  {
    name: 'role',
    listing: 'roles',
    create: 'create_role',
    createName: 'CreateRole',
    reference: 'role',
    given: new Map(),
    fixed: new Set(),
  },
  {
    name: 'access provider',
    listing: 'access_providers',
    create: 'create_access_provider',
    createName: 'CreateAccessProvider',
    reference: 'access_provider',
    given: new Map([['audience', undefined]]),
    fixed: new Set(),
  },
]

/** The kind that a wire key makes; `create_class` is what collections were called once. */
export function kindMadeBy(key: string): Kind | undefined {
  return kinds.find(
    ({ create }) => create === key || (create === 'create_collection' && key === 'create_class'),
  )
}

/** A schema object: the fields that define it, `name` among them. */
export interface SchemaObject {
  readonly kind: Kind
  readonly name: string
  readonly fields: ReadonlyMap<string, Json>
}

/** What makes two objects the same one. */
export function idOf({ kind, name }: SchemaObject): string {
  return `${kind.listing}/${name}`
}

/** The fields of an object, value JSON, without what the service adds by itself. */
export function definingFields(kind: Kind, fields: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> {
  return new Map(
    [...fields].filter(([name, value]) => {
      if (name === 'ref' || name === 'ts') return false
      if (!kind.given.has(name)) return true
      const initial = kind.given.get(name)
      return initial !== undefined && value !== initial
    }),
  )
}
