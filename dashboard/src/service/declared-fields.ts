// The fields that the definition of a collection declares in version 10.

import { at, isMap, type Json, textAt } from '../wire/json.ts'
import { readSignature, type Signature, startOf } from '../wire/signatures.ts'

export interface DeclaredField {
  readonly name: string
  readonly type: string
  /** Text of the default, or body of a computed field; undefined without a default. */
  readonly value: string | undefined
  readonly isComputed: boolean
  /** Documents without this field are rejected. */
  readonly isRequired: boolean
}

const membersOf = (value: Json | undefined) => (isMap(value) ? [...value] : [])

/** Computed fields come last. */
export function declaredFields(collection: Json): readonly DeclaredField[] {
  const stored = membersOf(at(collection, 'fields')).map(([name, field]) => {
    const type = textAt(field, 'signature') ?? 'Any'
    const value = textAt(field, 'default')
    const isRequired = value === undefined && !readSignature(type).isOptional
    return { name, type, value, isComputed: false, isRequired }
  })
  const computed = membersOf(at(collection, 'computed_fields')).map(([name, field]) => ({
    name,
    type: textAt(field, 'signature') ?? 'Any',
    value: textAt(field, 'body'),
    isComputed: true,
    isRequired: false,
  }))
  return [...stored, ...computed]
}

/** Signatures by the name of the field. */
export function signaturesOf(collection: Json): ReadonlyMap<string, Signature> {
  return new Map(declaredFields(collection).map(({ name, type }) => [name, readSignature(type)]))
}

/** The required fields, each with the initial value of its type; null if the type has none. */
export function startingData(collection: Json): ReadonlyMap<string, Json> {
  const required = declaredFields(collection).filter(({ isRequired }) => isRequired)
  return startOf(new Map(required.map(({ name, type }) => [name, readSignature(type)])))
}
