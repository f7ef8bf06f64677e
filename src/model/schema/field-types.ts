// Types of fields, as collections declare them, and how they are printed. They say nothing of how they are written:
// languages make them out of their signatures.

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

/** The types that have a name and no parts. */
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

/** A field of an object. */
export interface MemberType {
  readonly type: FieldType
  /** The text of the expression that stands for an absent value. */
  readonly defaultValue?: string | undefined
}

/** An object: exactly these fields, and with a wildcard further ones of that type. */
export interface ObjectType {
  readonly kind: 'object'
  readonly fields: ReadonlyMap<string, MemberType>
  readonly wildcard?: FieldType | undefined
}

/** What a stored value may be. Absence and null are the same. */
export type FieldType =
  | { readonly kind: 'any' }
  | { readonly kind: 'null' }
  | { readonly kind: 'scalar'; readonly name: ScalarName }
  | { readonly kind: 'literal'; readonly value: boolean | bigint | number | string }
  | { readonly kind: 'union'; readonly members: readonly FieldType[] }
  | { readonly kind: 'array'; readonly element: FieldType }
  | { readonly kind: 'tuple'; readonly elements: readonly FieldType[] }
  | ObjectType
  /** Documents of a collection, there or not; `name` is that of the collection. */
  | { readonly kind: 'reference'; readonly collection: number; readonly name: string }

/** The type of everything. */
export const anyType: FieldType = { kind: 'any' }
/** The type of null and absence. */
export const nullType: FieldType = { kind: 'null' }

/** The type of objects with any fields. */
export const anyObject: ObjectType = { kind: 'object', fields: new Map(), wildcard: anyType }

/** Whether a value may be absent. */
export function isOptional(type: FieldType): boolean {
  if (type.kind === 'union') return type.members.some(isOptional)
  return type.kind === 'any' || type.kind === 'null'
}

/** A type as failures print it. */
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

function memberName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : literalText(name)
}

/** A constant as it is written in a type. */
function literalText(value: boolean | bigint | number | string): string {
  if (typeof value === 'string') return `"${value.replaceAll(/["\\]/g, each => `\\${each}`)}"`
  return typeof value === 'number' ? javaDoubleText(value) : String(value)
}

/** The first integer that takes more than 32 bits. */
const intEnd = 2n ** 31n

/** Whether an integer fits 32 bits. */
export function isInt(value: bigint): boolean {
  return value >= -intEnd && value < intEnd
}

/** The type of a stored value, as failures print it: `{ x: Int }`, `[String]`, `Document` … */
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

/** What was provided, as a failure prints it: the value itself where the type has constants of its kind. */
export function providedText(type: FieldType, value: Value): string {
  const isConstant = typeof value === 'string' || typeof value === 'bigint' || typeof value === 'number'
  const members = type.kind === 'union' ? type.members : [type]
  const isCompared = members.some(each => each.kind === 'literal' && typeof each.value === typeof value)
  return isCompared && (isConstant || typeof value === 'boolean') ? literalText(value) : valueTypeText(value)
}
