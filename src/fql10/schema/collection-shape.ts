// The type of collection definitions in version 10.

import {
  anyObject,
  type FieldType,
  type MemberType,
  nullType,
  type ObjectType,
} from '../../model/schema/field-types.ts'

const scalar = (name: 'String' | 'Boolean' | 'Long'): FieldType => ({ kind: 'scalar', name })
const literal = (value: string): FieldType => ({ kind: 'literal', value })
const optional = (...members: readonly FieldType[]): FieldType => ({
  kind: 'union',
  members: [...members, nullType],
})
const array = (element: FieldType): FieldType => ({ kind: 'array', element })
const either = (...members: readonly FieldType[]): FieldType => ({ kind: 'union', members })

const object = (fields: Readonly<Record<string, FieldType>>): ObjectType => ({
  kind: 'object',
  fields: new Map(Object.entries(fields).map(([name, type]): [string, MemberType] => [name, { type }])),
})

const byName = (element: FieldType): ObjectType => ({ kind: 'object', fields: new Map(), wildcard: element })

const [text, flag, count] = [scalar('String'), scalar('Boolean'), scalar('Long')]

const term = object({ field: text, mva: optional(flag) })
const value = object({
  field: text,
  order: optional(literal('asc'), literal('desc')),
  mva: optional(flag),
})
const [terms, values] = [array(term), array(value)]
const ofIndex = { queryable: optional(flag) }
const index = either(
  object({ terms, ...ofIndex }),
  object({ values, ...ofIndex }),
  object({ terms, values, ...ofIndex }),
)

const constraint = either(
  object({ check: object({ name: text, body: text }) }),
  object({ unique: either(array(text), array(term)) }),
)

const migration = either(
  object({ add: object({ field: text }) }),
  object({ add_wildcard: object({}) }),
  object({ backfill: object({ field: text, value: text }) }),
  object({ drop: object({ field: text }) }),
  object({ move: object({ field: text, to: text }) }),
  object({ move_conflicts: object({ into: text }) }),
  object({ move_wildcard: object({ into: text }) }),
  object({ split: object({ field: text, to: array(text) }) }),
)

/** The type of a definition. Fields that the service adds (`status`) are not part of it. */
export const collectionShape: ObjectType = object({
  name: text,
  alias: optional(text),
  history_days: optional(count),
  ttl_days: optional(count),
  document_ttls: optional(flag),
  fields: optional(byName(object({ signature: text, default: optional(text) }))),
  wildcard: optional(text),
  computed_fields: optional(byName(object({ body: text, signature: optional(text) }))),
  indexes: optional(byName(index)),
  constraints: optional(array(constraint)),
  migrations: optional(array(migration)),
  data: optional(anyObject),
})
