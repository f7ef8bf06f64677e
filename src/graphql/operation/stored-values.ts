// Converts coerced arguments to the values that the database stores: integers, doubles, dates, references.

import type { GraphQLInputType } from 'graphql'
import { step } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { parseId } from '../../values/names.ts'
import { Ref, type Value } from '../../values/value.ts'
import { OperationError } from '../errors.ts'
import type { DatabaseSchema } from '../schema/database-schema.ts'
import { type FieldDefinition, namedType } from '../schema/definitions.ts'

/** The collection of a type whose documents a generated mutation creates. */
export function collectionRef(type: string, { collections }: DatabaseSchema): Ref {
  const collection = collections.get(type)
  if (collection === undefined) throw new Error(`the type ${type} has a collection`)
  return collection.ref
}

/** Throws OperationError if the id is no number. */
export function documentRef(type: string, id: unknown, schema: DatabaseSchema): Ref {
  const collection = schema.collections.get(type)
  if (collection === undefined)
    throw OperationError.failed('invalid ref', msg`The type '${type}' has no collection.`)
  const parsed = parseId(String(id))
  if (typeof parsed !== 'bigint')
    throw OperationError.failed('invalid argument', msg`Numeric ID expected, '${id}' provided.`)
  return new Ref(collection.ref.database, Number(collection.ref.id), parsed)
}

/** `target`: the field that stores the value; an ID for a field with references becomes a reference. */
export function storedValue(
  type: GraphQLInputType,
  value: unknown,
  target: FieldDefinition | undefined,
  schema: DatabaseSchema,
): Value {
  step()
  const { library } = schema
  if (value === null || value === undefined) return null
  if (library.isNonNullType(type)) return storedValue(type.ofType, value, target, schema)
  if (library.isListType(type))
    return (value as readonly unknown[]).map(each => storedValue(type.ofType, each, target, schema))
  if (library.isInputObjectType(type)) {
    const fields = fieldsOf(target, schema)
    const members: [string, Value][] = Object.entries(value as object).map(([name, member]) => {
      const { type: inner } = type.getFields()[name] as { readonly type: GraphQLInputType }
      return [name, storedValue(inner, member, fields?.get(name), schema)]
    })
    return new Map(members)
  }
  return scalarValue(type.name, value, target, schema)
}

function fieldsOf(
  target: FieldDefinition | undefined,
  { objects }: DatabaseSchema,
): ReadonlyMap<string, FieldDefinition> | undefined {
  const object = target && objects.get(namedType(target.type))
  return object && new Map(object.fields.map(field => [field.name, field]))
}

function scalarValue(
  type: string,
  value: unknown,
  target: FieldDefinition | undefined,
  schema: DatabaseSchema,
): Value {
  switch (type) {
    case 'Int':
      return BigInt(value as number)
    case 'ID': {
      const entity = target && namedType(target.type)
      return entity !== undefined && schema.collections.has(entity)
        ? documentRef(entity, value, schema)
        : String(value)
    }
    default:
      // Strings, doubles, booleans and enums are values. The scalars of scalars.ts are converted at their coercion.
      return value as Value
  }
}
