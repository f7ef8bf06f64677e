// The subtype relation of field types. A definition may change a field to a supertype without a migration.

import { step } from '../../base/effort.ts'
import {
  type FieldType,
  isOptional,
  nullType,
  type ObjectType,
  type ScalarName,
  typeText,
} from './field-types.ts'
import { scalars } from './type-check.ts'

/** Returns whether every value of a type also has the other type. `Any` is a subtype only of itself. */
export function isSubtype(type: FieldType, other: FieldType): boolean {
  step()
  if (other.kind === 'any') return true
  if (type.kind === 'any') return other.kind === 'union' && other.members.some(({ kind }) => kind === 'any')
  if (type.kind === 'union') return type.members.every(member => isSubtype(member, other))
  if (other.kind === 'union') return other.members.some(member => isSubtype(type, member))
  switch (type.kind) {
    case 'null':
      return other.kind === 'null'
    case 'literal':
      return other.kind === 'literal'
        ? type.value === other.value
        : other.kind === 'scalar' && scalars[other.name](type.value)
    case 'scalar':
      if (other.kind !== 'scalar') return false
      return type.name === other.name || widerScalars[type.name]?.includes(other.name) === true
    case 'array':
      return other.kind === 'array' && isSubtype(type.element, other.element)
    case 'tuple':
      if (other.kind === 'array') return type.elements.every(each => isSubtype(each, other.element))
      return (
        other.kind === 'tuple' &&
        type.elements.length === other.elements.length &&
        type.elements.every((each, index) => isSubtype(each, other.elements[index] as FieldType))
      )
    case 'reference':
      return other.kind === 'reference' && type.collection === other.collection
    case 'object':
      return other.kind === 'object' && isSubobject(type, other)
  }
}

/** A Long may be any integer here, so every Int is a Long. */
const widerScalars: Readonly<Partial<Record<ScalarName, readonly ScalarName[]>>> = {
  Int: ['Long', 'Number'],
  Long: ['Number'],
  Double: ['Number'],
}

function isSubobject(type: ObjectType, other: ObjectType): boolean {
  for (const [name, { type: wanted }] of other.fields) {
    const own = type.fields.get(name)?.type ?? type.wildcard
    if (own === undefined ? !isOptional(wanted) : !isSubtype(own, wanted)) return false
  }
  for (const [name, { type: own }] of type.fields) {
    if (other.fields.has(name)) continue
    if (other.wildcard === undefined || !isSubtype(own, other.wildcard)) return false
  }
  if (type.wildcard === undefined) return true
  return other.wildcard !== undefined && isSubtype(type.wildcard, other.wildcard)
}

/** Returns a union of types without duplicates. */
export function unionOf(types: readonly FieldType[]): FieldType {
  const members = types.flatMap(type => (type.kind === 'union' ? type.members : [type]))
  const distinct = [...new Map(members.map(member => [typeText(member), member])).values()]
  const [only = nullType] = distinct
  return distinct.length === 1 ? only : { kind: 'union', members: distinct }
}

/** Returns the members of a type that are no subtypes of another one; the whole type if there are none. */
export function typeDifference(type: FieldType, other: FieldType): FieldType {
  const members = type.kind === 'union' ? type.members : [type]
  const lacking = members.filter(member => !isSubtype(member, other))
  return lacking.length === 0 ? type : unionOf(lacking)
}
