// The kinds of schema objects that the schema commands store in files.

import { type Json, nativeOfKind, type SchemaKind } from '../../values/value.ts'

export interface ObjectKind {
  /** The name of the kind in messages, such as `access provider`. */
  readonly name: string
  /**
   * Two uses: the name of the folder with the files, and (in the JSON of a query) the key of the call that lists the
   * objects.
   */
  readonly listing: string
  /**
   * In the JSON of a query, the key of the call that creates an object. `createName` is the name of the same function
   * in the text of a query.
   */
  readonly create: string
  readonly createName: string
  /** In the JSON of a query, the key of a reference to an object. */
  readonly reference: string
  /** Fields that the service adds, with their initial values; undefined for fields that cannot be set. */
  readonly defaults: ReadonlyMap<string, Json | undefined>
  /** Fields that cannot be changed: a difference means that the object must be deleted and created again. */
  readonly immutable: ReadonlySet<string>
}

function kind(
  reference: SchemaKind,
  more: Partial<Pick<ObjectKind, 'defaults' | 'immutable'>> = {},
): ObjectKind {
  const words = reference.split('_')
  return {
    name: words.join(' '),
    listing: nativeOfKind[reference],
    create: `create_${reference}`,
    createName: ['create', ...words].map(word => word.slice(0, 1).toUpperCase() + word.slice(1)).join(''),
    reference,
    defaults: new Map(),
    immutable: new Set(),
    ...more,
  }
}

/** The kinds in the order of creation: an object may refer to objects of preceding kinds. */
export const kinds: readonly ObjectKind[] = [
  kind('collection', { defaults: new Map<string, Json>([['history_days', 30n]]) }),
  kind('index', {
    defaults: new Map<string, Json | undefined>([
      ['active', undefined],
      ['partitions', undefined],
      ['serialized', true],
      ['unique', false],
    ]),
    immutable: new Set(['source', 'terms', 'values', 'unique', 'serialized']),
  }),
  kind('function'),
  kind('role'),
  kind('access_provider', { defaults: new Map([['audience', undefined]]) }),
]

/** The kind of object that the function `key` creates; `create_class` is the old name of `create_collection`. */
export function kindCreatedBy(key: string): ObjectKind | undefined {
  return kinds.find(
    ({ create }) => create === key || (create === 'create_collection' && key === 'create_class'),
  )
}

/** A schema object with the fields that define the object, including `name`. */
export interface SchemaObject {
  readonly kind: ObjectKind
  readonly name: string
  readonly fields: ReadonlyMap<string, Json>
}

/** Identifies an object by its kind and name. */
export function idOf({ kind, name }: SchemaObject): string {
  return `${kind.listing}/${name}`
}

/** Returns the fields that define an object: without `ref`, `ts`, fields that cannot be set, and default values. */
export function definingFields(
  kind: ObjectKind,
  fields: ReadonlyMap<string, Json>,
): ReadonlyMap<string, Json> {
  return new Map(
    [...fields].filter(([name, value]) => {
      if (name === 'ref' || name === 'ts') return false
      if (!kind.defaults.has(name)) return true
      const initial = kind.defaults.get(name)
      return initial !== undefined && value !== initial
    }),
  )
}
