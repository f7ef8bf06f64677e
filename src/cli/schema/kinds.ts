// The kinds of schema objects that the schema commands store in files.

import { type Json, nativeOfKind, type SchemaKind } from '../../values/value.ts'

export interface ObjectKind {
  /** The name in messages, such as `access provider`. */
  readonly name: string
  /** Folder of the files, and (in the JSON of a query) key of the call that lists the objects. */
  readonly listing: string
  /**
   * Key of the call that creates an object, in the JSON of a query. `createName`: the same function in the text of a
   * query.
   */
  readonly create: string
  readonly createName: string
  /** Key of a reference to an object, in the JSON of a query. */
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

/** Kinds in the order of creation: an object may refer to objects of preceding kinds. */
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

/** `create_class` is the old name of `create_collection`. */
export function kindCreatedBy(key: string): ObjectKind | undefined {
  return kinds.find(
    ({ create }) => create === key || (create === 'create_collection' && key === 'create_class'),
  )
}

/** `fields` define the object, including `name`. */
export interface SchemaObject {
  readonly kind: ObjectKind
  readonly name: string
  readonly fields: ReadonlyMap<string, Json>
}

export function idOf({ kind, name }: Pick<SchemaObject, 'kind' | 'name'>): string {
  return `${kind.listing}/${name}`
}

/** Leaves out `ref`, `ts`, fields that cannot be set, and default values. */
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
