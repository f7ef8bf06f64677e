// Lists all faults of a value: first those of existing fields and elements, then those of missing fields. Also defines
// the subtype relation.

import { step } from '../../base/effort.ts'
import {
  isArray,
  isObject,
  LocalDate,
  type ObjectValue,
  Ref,
  Time,
  TransactionTime,
  Uuid,
  type Value,
} from '../../values/value.ts'
import type { FieldPath, TypeFailure } from '../failure.ts'
import {
  type FieldType,
  isInt,
  isOptional,
  nullType,
  type ObjectType,
  providedText,
  type ScalarName,
  typeText,
} from './field-types.ts'

const scalars: Readonly<Record<ScalarName, (value: Value) => boolean>> = {
  Boolean: value => typeof value === 'boolean',
  String: value => typeof value === 'string',
  Time: value => value instanceof Time || value instanceof TransactionTime,
  Date: value => value instanceof LocalDate,
  Bytes: value => value instanceof Uint8Array,
  UUID: value => value instanceof Uuid,
  Int: value => typeof value === 'bigint' && isInt(value),
  Long: value => typeof value === 'bigint',
  Double: value => typeof value === 'number',
  Number: value => typeof value === 'bigint' || typeof value === 'number',
}

/** `value` is undefined for a missing value. */
export function typeFailures(
  type: FieldType,
  value: Value | undefined,
  path: FieldPath,
): readonly TypeFailure[] {
  step()
  if (value === undefined || value === null) {
    return isOptional(type) ? [] : [{ path, fault: { kind: 'missing', expected: typeText(type) } }]
  }
  switch (type.kind) {
    case 'any':
      return []
    case 'scalar':
      return scalars[type.name](value) ? [] : [mismatch(type, value, path)]
    case 'literal':
      return value === type.value ? [] : [mismatch(type, value, path)]
    case 'reference':
      return value instanceof Ref && value.collection === type.collection ? [] : [mismatch(type, value, path)]
    case 'array': {
      const { element } = type
      if (!isArray(value)) return [mismatch(type, value, path)]
      return value.flatMap((each, index) => elementFailures(element, each, [...path, index]))
    }
    case 'tuple': {
      const { elements } = type
      if (!isArray(value)) return [mismatch(type, value, path)]
      if (value.length !== elements.length) return [{ path, fault: { kind: 'tuple arity' } }]
      return elements.flatMap((each, index) => elementFailures(each, value[index] as Value, [...path, index]))
    }
    case 'object':
      return isObject(value) ? objectFailures(type, value, path) : [mismatch(type, value, path)]
    case 'union':
      return unionFailures(type.members, type, value, path)
    case 'null':
      return [mismatch(type, value, path)]
  }
}

/** Unlike a null field, a null element is not treated as missing. */
function elementFailures(type: FieldType, value: Value, path: FieldPath): readonly TypeFailure[] {
  if (value === null && !isOptional(type)) return [mismatch(type, value, path)]
  return typeFailures(type, value, path)
}

function mismatch(type: FieldType, value: Value, path: FieldPath): TypeFailure {
  const fault = { kind: 'mismatch', expected: typeText(type), provided: providedText(type, value) } as const
  return { path, fault }
}

function objectFailures(
  { fields, wildcard }: ObjectType,
  value: ObjectValue,
  path: FieldPath,
): readonly TypeFailure[] {
  const failures: TypeFailure[] = []
  for (const [name, each] of value) {
    const type = fields.get(name)?.type ?? wildcard
    if (type === undefined) failures.push({ path: [...path, name], fault: { kind: 'unexpected' } })
    else failures.push(...typeFailures(type, each, [...path, name]))
  }
  for (const [name, { type }] of fields) {
    if (!value.has(name)) failures.push(...typeFailures(type, undefined, [...path, name]))
  }
  return failures
}

/**
 * If the union has several object types and the value lacks required fields of each one, the fault lists the required
 * fields of each object type. If for exactly one member all faults are at longer paths than `path`, the client probably
 * meant this member: only its faults are returned. In all other cases, the fault names the union as the expected type.
 */
function unionFailures(
  members: readonly FieldType[],
  type: FieldType,
  value: Value,
  path: FieldPath,
): readonly TypeFailure[] {
  const failuresByMember = members.map(each => typeFailures(each, value, path))
  if (failuresByMember.some(failures => failures.length === 0)) return []
  if (isObject(value)) {
    const objects = members.filter(each => each.kind === 'object')
    const lacking = objects.filter(each => requiredNames(each).some(name => !value.has(name)))
    if (objects.length > 1 && lacking.length === objects.length) {
      const unexpected = unknownNames(objects, value).map(
        (name): TypeFailure => ({ path: [...path, name], fault: { kind: 'unexpected' } }),
      )
      return [...unexpected, { path, fault: { kind: 'union fields', fields: objects.map(requiredNames) } }]
    }
  }
  const inner = failuresByMember.filter(failures => failures.every(each => each.path.length > path.length))
  return inner.length === 1 ? (inner[0] as readonly TypeFailure[]) : [mismatch(type, value, path)]
}

function requiredNames({ fields }: ObjectType): readonly string[] {
  return Array.from(fields).flatMap(([name, { type }]) => (isOptional(type) ? [] : [name]))
}

/** The fields of `value` that no type in `objects` allows. */
function unknownNames(objects: readonly ObjectType[], value: ObjectValue): readonly string[] {
  const isKnown = (name: string) =>
    objects.some(({ fields, wildcard }) => wildcard !== undefined || fields.has(name))
  return [...value.keys()].filter(name => !isKnown(name))
}

/**
 * Returns whether every value of `type` is a value of `other`: replacing the type of a field by a supertype needs no
 * migration. `Any` is a subtype only of `Any` and of unions that contain `Any`.
 */
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

/** A Long is any 64-bit integer, so Long is a supertype of Int. */
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

/** Returns the union of types, without duplicates. */
export function unionOf(types: readonly FieldType[]): FieldType {
  const members = types.flatMap(type => (type.kind === 'union' ? type.members : [type]))
  const distinct = [...new Map(members.map(member => [typeText(member), member])).values()]
  const [only = nullType] = distinct
  return distinct.length === 1 ? only : { kind: 'union', members: distinct }
}

/** The members of `type` that are not subtypes of `other`, or `type` if there are none. */
export function typeDifference(type: FieldType, other: FieldType): FieldType {
  const members = type.kind === 'union' ? type.members : [type]
  const lacking = members.filter(member => !isSubtype(member, other))
  return lacking.length === 0 ? type : unionOf(lacking)
}
