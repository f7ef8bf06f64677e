// Short constructors of types, for the types of definitions.

import { type FieldType, type MemberType, nullType, type ObjectType } from '../../model/schema/field-types.ts'

/** A scalar type, a single text, arrays of a type, any of several types, and any of several types or null. */
export const scalar = (name: 'String' | 'Boolean' | 'Long'): FieldType => ({ kind: 'scalar', name })
export const literal = (value: string): FieldType => ({ kind: 'literal', value })
export const array = (element: FieldType): FieldType => ({ kind: 'array', element })
export const either = (...members: readonly FieldType[]): FieldType => ({ kind: 'union', members })
export const optional = (...members: readonly FieldType[]): FieldType => either(...members, nullType)

/** An object with exactly these fields. */
export const object = (fields: Readonly<Record<string, FieldType>>): ObjectType => ({
  kind: 'object',
  fields: new Map(Object.entries(fields).map(([name, type]): [string, MemberType] => [name, { type }])),
})

/** An object with any names and values of one type. */
export const byName = (element: FieldType): ObjectType => ({
  kind: 'object',
  fields: new Map(),
  wildcard: element,
})
