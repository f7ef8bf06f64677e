// The kinds of schema objects that are kept as files.

import { type Json, nativeOfKind, type SchemaKind } from '../../values/value.ts'

/** A kind of schema object. */
export interface ObjectKind {
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

function kind(reference: SchemaKind, more: Partial<Pick<ObjectKind, 'given' | 'fixed'>> = {}): ObjectKind {
  const words = reference.split('_')
  return {
    name: words.join(' '),
    listing: nativeOfKind[reference],
    create: `create_${reference}`,
    createName: ['create', ...words].map(word => word.slice(0, 1).toUpperCase() + word.slice(1)).join(''),
    reference,
    given: new Map(),
    fixed: new Set(),
    ...more,
  }
}

/** In the order in which they are made: each may refer to the ones before it. */
export const kinds: readonly ObjectKind[] = [
  kind('collection', { given: new Map<string, Json>([['history_days', 30n]]) }),
  kind('index', {
    given: new Map<string, Json | undefined>([
      ['active', undefined],
      ['partitions', undefined],
      ['serialized', true],
      ['unique', false],
    ]),
    fixed: new Set(['source', 'terms', 'values', 'unique', 'serialized']),
  }),
  kind('function'),
  kind('role'),
  kind('access_provider', { given: new Map([['audience', undefined]]) }),
]

/** The kind that a wire key makes; `create_class` is what collections were called once. */
export function kindMadeBy(key: string): ObjectKind | undefined {
  return kinds.find(
    ({ create }) => create === key || (create === 'create_collection' && key === 'create_class'),
  )
}

/** A schema object: the fields that define it, `name` among them. */
export interface SchemaObject {
  readonly kind: ObjectKind
  readonly name: string
  readonly fields: ReadonlyMap<string, Json>
}

/** What makes two objects the same one. */
export function idOf({ kind, name }: SchemaObject): string {
  return `${kind.listing}/${name}`
}

/** The fields of an object, value JSON, without what the service adds by itself. */
export function definingFields(
  kind: ObjectKind,
  fields: ReadonlyMap<string, Json>,
): ReadonlyMap<string, Json> {
  return new Map(
    [...fields].filter(([name, value]) => {
      if (name === 'ref' || name === 'ts') return false
      if (!kind.given.has(name)) return true
      const initial = kind.given.get(name)
      return initial !== undefined && value !== initial
    }),
  )
}
