// The declared types of fields, independent of the syntax of a language. A language parses the signature of a field,
// such as `Int | Null`, to a type. Types are stored as values.

import { assert, unreachable } from '../../base/assert.ts'
import { javaDoubleText } from '../../values/double-text.ts'
import {
  isArray,
  isObject,
  Lambda,
  LocalDate,
  type ObjectValue,
  Ref,
  Time,
  TransactionTime,
  Uuid,
  type Value,
} from '../../values/value.ts'

/** Types without parameters. */
export type ScalarName =
  | 'Boolean'
  | 'String'
  | 'Time'
  | 'Date'
  | 'Bytes'
  | 'UUID'
  | 'Int'
  | 'Long'
  | 'Double'
  | 'Number'

export interface MemberType {
  readonly type: FieldType
  /** The source text of an expression. */
  readonly defaultValue?: string | undefined
}

/** An object with the given fields. With a `wildcard`, other fields of the wildcard's type are also allowed. */
export interface ObjectType {
  readonly kind: 'object'
  readonly fields: ReadonlyMap<string, MemberType>
  readonly wildcard?: FieldType | undefined
}

/** A missing value is treated like null. */
export type FieldType =
  | { readonly kind: 'any' }
  | { readonly kind: 'null' }
  | { readonly kind: 'scalar'; readonly name: ScalarName }
  | { readonly kind: 'literal'; readonly value: boolean | bigint | number | string }
  | { readonly kind: 'union'; readonly members: readonly FieldType[] }
  | { readonly kind: 'array'; readonly element: FieldType }
  | { readonly kind: 'tuple'; readonly elements: readonly FieldType[] }
  | ObjectType
  /** A reference to a document of the collection with the given number and name. The document need not exist. */
  | { readonly kind: 'reference'; readonly collection: number; readonly name: string }

export const anyType: FieldType = { kind: 'any' }
/** The type of null and missing values. */
export const nullType: FieldType = { kind: 'null' }

export const anyObject: ObjectType = { kind: 'object', fields: new Map(), wildcard: anyType }

/** Returns whether a field of the type may be missing. */
export function isOptional(type: FieldType): boolean {
  if (type.kind === 'union') return type.members.some(isOptional)
  return type.kind === 'any' || type.kind === 'null'
}

/** Formats a type for error messages. */
export function typeText(type: FieldType): string {
  switch (type.kind) {
    case 'any':
      return 'Any'
    case 'null':
      return 'Null'
    case 'scalar':
      return type.name
    case 'literal':
      return literalText(type.value)
    case 'union':
      return type.members.map(typeText).join(' | ')
    case 'array':
      return `Array<${typeText(type.element)}>`
    case 'tuple':
      return `[${type.elements.map(typeText).join(', ')}]`
    case 'reference':
      return `${type.name} | Null${type.name}`
    case 'object':
      return objectText(type)
  }
}

function objectText({ fields, wildcard }: ObjectType): string {
  const members = Array.from(fields, ([name, { type }]) => `${memberName(name)}: ${typeText(type)}`)
  if (wildcard !== undefined) members.push(`*: ${typeText(wildcard)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** Formats the name of a field: quoted, if it is not an identifier. */
export function memberName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : literalText(name)
}

/** Formats a constant in the syntax of types. */
export function literalText(value: boolean | bigint | number | string): string {
  if (typeof value === 'string') return `"${value.replaceAll(/["\\]/g, each => `\\${each}`)}"`
  return typeof value === 'number' ? javaDoubleText(value) : String(value)
}

/** The smallest positive integer that does not fit into 32 bits. */
const intEnd = 2n ** 31n

/** Returns whether an integer fits into 32 bits. */
export function isInt(value: bigint): boolean {
  return value >= -intEnd && value < intEnd
}

/** Formats the type of a stored value for error messages, such as `{ x: Int }`, `[String]` or `Document`. */
export function valueTypeText(value: Value): string {
  switch (typeof value) {
    case 'bigint':
      return isInt(value) ? 'Int' : 'Long'
    case 'number':
      return 'Double'
    case 'string':
      return 'String'
    case 'boolean':
      return 'Boolean'
  }
  if (value === null) return 'Null'
  if (isArray(value)) return `[${value.map(valueTypeText).join(', ')}]`
  if (isObject(value)) return fieldsText(value)
  if (value instanceof Uint8Array) return 'Bytes'
  if (value instanceof Ref) return 'Document'
  if (value instanceof Time || value instanceof TransactionTime) return 'Time'
  if (value instanceof LocalDate) return 'Date'
  if (value instanceof Uuid) return 'UUID'
  return value instanceof Lambda ? 'Query' : 'Any'
}

function fieldsText(value: ObjectValue): string {
  const fields = Array.from(value, ([name, each]) => `${memberName(name)}: ${valueTypeText(each)}`)
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}

/**
 * What was provided instead of `type`, for an error message: the value if `type` contains a literal of the same
 * JavaScript type, otherwise its type.
 */
export function providedText(type: FieldType, value: Value): string {
  const isConstant = typeof value === 'string' || typeof value === 'bigint' || typeof value === 'number'
  const members = type.kind === 'union' ? type.members : [type]
  const isCompared = members.some(each => each.kind === 'literal' && typeof each.value === typeof value)
  return isCompared && (isConstant || typeof value === 'boolean') ? literalText(value) : valueTypeText(value)
}

/** Returns an object value with the given fields. */
export function objectOf(fields: Readonly<Record<string, Value>>): Map<string, Value> {
  return new Map(Object.entries(fields))
}

/**
 * Stored types contain collection numbers, so renaming a collection does not change a stored type. The stored form has
 * few levels, so even the deepest valid signature is within the depth limit of stored values. Omits the defaults of
 * nested fields, which the type check does not need.
 */
export function storedType(type: FieldType): Value {
  switch (type.kind) {
    case 'any':
      return 'Any'
    case 'null':
      return 'Null'
    case 'scalar':
      return type.name
    case 'literal':
      return objectOf({ literal: type.value })
    case 'union':
      return type.members.map(storedType)
    case 'array':
      return objectOf({ array: storedType(type.element) })
    case 'tuple':
      return objectOf({ tuple: type.elements.map(storedType) })
    case 'reference':
      return objectOf({ reference: BigInt(type.collection), name: type.name })
    case 'object': {
      const fields = Array.from(type.fields, ([name, member]) => [name, storedType(member.type)] as const)
      const stored = objectOf({ object: new Map(fields) })
      return type.wildcard === undefined ? stored : stored.set('wildcard', storedType(type.wildcard))
    }
    default:
      return unreachable(type)
  }
}

/** The inverse of {@link storedType}. */
export function readType(stored: Value): FieldType {
  if (stored === 'Any') return anyType
  if (stored === 'Null') return nullType
  if (typeof stored === 'string') return { kind: 'scalar', name: stored as ScalarName }
  if (isArray(stored)) return { kind: 'union', members: stored.map(readType) }
  assert(isObject(stored), 'a stored type is a name, a list or an object')
  const literal = stored.get('literal')
  if (literal !== undefined) return { kind: 'literal', value: literal as boolean | bigint | number | string }
  const [array, tuple] = [stored.get('array'), stored.get('tuple')]
  if (array !== undefined) return { kind: 'array', element: readType(array) }
  if (isArray(tuple)) return { kind: 'tuple', elements: tuple.map(readType) }
  const [reference, name] = [stored.get('reference'), stored.get('name')]
  if (typeof reference === 'bigint')
    return { kind: 'reference', collection: Number(reference), name: String(name) }
  const [named, wildcard] = [stored.get('object'), stored.get('wildcard')]
  assert(isObject(named), 'a stored type is of a kind that is known')
  const fields = Array.from(named, ([field, type]): [string, MemberType] => [field, { type: readType(type) }])
  return {
    kind: 'object',
    fields: new Map(fields),
    wildcard: wildcard === undefined ? undefined : readType(wildcard),
  }
}

export const scalar = (name: 'String' | 'Boolean' | 'Long'): FieldType => ({ kind: 'scalar', name })
export const literal = (value: string): FieldType => ({ kind: 'literal', value })
export const array = (element: FieldType): FieldType => ({ kind: 'array', element })
export const either = (...members: readonly FieldType[]): FieldType => ({ kind: 'union', members })
export const optional = (...members: readonly FieldType[]): FieldType => either(...members, nullType)

/** Objects with exactly the given fields. */
export const object = (fields: Readonly<Record<string, FieldType>>): ObjectType => ({
  kind: 'object',
  fields: new Map(Object.entries(fields).map(([name, type]): [string, MemberType] => [name, { type }])),
})

/** Objects with any field names, whose values have the type `element`. */
export const byName = (element: FieldType): ObjectType => ({
  kind: 'object',
  fields: new Map(),
  wildcard: element,
})
