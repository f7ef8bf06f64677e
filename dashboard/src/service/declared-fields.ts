// The fields that the definition of a collection declares, as version 10 has them.

import { at, isMap, type Json, textAt } from '../wire/json.ts'
import { readSignature, type Signature, startOf } from '../wire/signatures.ts'

/** A field that a collection declares. */
export interface DeclaredField {
  readonly name: string
  /** The text of its type. */
  readonly type: string
  /** The text of its default; undefined where it has none, and of a computed field its body. */
  readonly value: string | undefined
  readonly isComputed: boolean
  /** A document without it is refused. */
  readonly isRequired: boolean
}

const membersOf = (value: Json | undefined) => (isMap(value) ? [...value] : [])

/** The fields of a collection's definition, the computed ones last. */
export function declaredFields(collection: Json): readonly DeclaredField[] {
  const own = membersOf(at(collection, 'fields')).map(([name, field]) => {
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
  return [...own, ...computed]
}

/** The types of declared fields, by name. */
export function signaturesOf(collection: Json): ReadonlyMap<string, Signature> {
  return new Map(declaredFields(collection).map(({ name, type }) => [name, readSignature(type)]))
}

/** The data that a new document begins with: the required fields, each with a value of its type. */
export function startingData(collection: Json): ReadonlyMap<string, Json> {
  const required = declaredFields(collection).filter(({ isRequired }) => isRequired)
  return startOf(new Map(required.map(({ name, type }) => [name, readSignature(type)])))
}
