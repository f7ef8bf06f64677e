// Converts definitions to and from `data.gql`, the metadata of collections, indexes and functions. The form is that of
// the hosted service, so the metadata in its exports can be read. Clients can write any metadata, so reading skips
// parts with a wrong form.

import { isArray, isObject, type ObjectValue, type Value } from '../../values/value.ts'
import { graphqlLimits } from '../limits.ts'
import type {
  ArgumentDefinition,
  DirectiveUse,
  FieldDefinition,
  ObjectDefinition,
  TypeRef,
} from './definitions.ts'

/** The field of `Query` or `Mutation` that a function resolves. */
interface ResolverField {
  readonly location: 'Query' | 'Mutation'
  readonly field: FieldDefinition
}

/** Returns undefined if the object is no part of the GraphQL schema. */
export function metadataOf(fields: ObjectValue | undefined): ObjectValue | undefined {
  const data = fields?.get('data')
  const gql = isObject(data) ? data.get('gql') : undefined
  return isObject(gql) ? gql : undefined
}

/** Returns `data.gql.meta` of a schema object. */
export function metaOf(fields: ObjectValue | undefined): ObjectValue | undefined {
  const meta = metadataOf(fields)?.get('meta')
  return isObject(meta) ? meta : undefined
}

function compact(entries: Readonly<Record<string, Value | undefined>>): ObjectValue {
  return new Map(Object.entries(entries).filter((entry): entry is [string, Value] => entry[1] !== undefined))
}

function listOrNone(values: readonly Value[]): readonly Value[] | undefined {
  return values.length === 0 ? undefined : values
}

function typeValue(type: TypeRef): Value {
  switch (type.kind) {
    case 'named':
      return new Map([['Named', type.name]])
    case 'list':
      return new Map([['List', typeValue(type.of)]])
    case 'non-null':
      return new Map([['NotNull', typeValue(type.of)]])
  }
}

function directiveValue({ args, name }: DirectiveUse): Value {
  return new Map<string, Value>([
    ['name', name],
    ['args', new Map<string, Value>(Object.entries(args))],
  ])
}

function argumentValue({ defaultValue, description, name, type }: ArgumentDefinition): Value {
  return compact({ name, description, type: typeValue(type), defaultValue })
}

export function fieldMeta(field: FieldDefinition): ObjectValue {
  return compact({
    name: field.name,
    directives: listOrNone(field.directives.map(directiveValue)),
    description: field.description,
    type: typeValue(field.type),
    arguments: listOrNone(field.arguments.map(argumentValue)),
  })
}

export function objectMeta({ description, directives, fields, name }: ObjectDefinition): ObjectValue {
  return compact({
    name,
    description,
    fields: fields.map(fieldMeta),
    directives: directives.map(directiveValue),
  })
}

/** In contrast to {@link fieldMeta}, an empty list of arguments is present. */
export function resolverMeta({ field, location }: ResolverField): ObjectValue {
  const meta = new Map(fieldMeta(field)).set('arguments', field.arguments.map(argumentValue))
  return new Map<string, Value>([
    ['location', location],
    ['field', meta],
  ])
}

function textOf(value: Value | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The names that imports accept. Most other names would make the text of the generated schema invalid. */
const validName = /^[A-Za-z][A-Za-z0-9_]*$/

function nameOf(value: Value | undefined): string | undefined {
  return typeof value === 'string' && validName.test(value) ? value : undefined
}

function itemsIn<T>(value: Value | undefined, read: (item: ObjectValue) => T | undefined): readonly T[] {
  if (!isArray(value)) return []
  return value.flatMap(item => {
    const found = isObject(item) ? read(item) : undefined
    return found === undefined ? [] : [found]
  })
}

/**
 * Maximum depth of the lists and `!` of a type: that of a list with `!` at each level of nesting that an import accepts.
 * Fields and arguments with a deeper type are skipped.
 */
const typeDepthMax = 2 * graphqlLimits.nestingMax

function typeIn(value: Value | undefined, depth = 0): TypeRef | undefined {
  if (!isObject(value) || depth > typeDepthMax) return undefined
  const name = nameOf(value.get('Named'))
  if (name !== undefined) return { kind: 'named', name }
  const list = typeIn(value.get('List'), depth + 1)
  if (list !== undefined) return { kind: 'list', of: list }
  const inner = typeIn(value.get('NotNull'), depth + 1)
  return inner === undefined || inner.kind === 'non-null' ? undefined : { kind: 'non-null', of: inner }
}

function directiveIn(item: ObjectValue): DirectiveUse | undefined {
  const name = nameOf(item.get('name'))
  if (name === undefined) return undefined
  const args = item.get('args')
  const plain = isObject(args)
    ? [...args].filter(([, value]) => typeof value === 'string' || typeof value === 'boolean')
    : []
  return { name, args: Object.fromEntries(plain) as DirectiveUse['args'] }
}

function descriptionIn(item: ObjectValue): { readonly description?: string } {
  const description = textOf(item.get('description'))
  return description === undefined ? {} : { description }
}

function argumentIn(item: ObjectValue): ArgumentDefinition | undefined {
  const [name, type] = [nameOf(item.get('name')), typeIn(item.get('type'))]
  if (name === undefined || type === undefined) return undefined
  const defaultValue = textOf(item.get('defaultValue'))
  return { ...descriptionIn(item), name, type, ...(defaultValue !== undefined && { defaultValue }) }
}

export function fieldIn(item: ObjectValue): FieldDefinition | undefined {
  const [name, type] = [nameOf(item.get('name')), typeIn(item.get('type'))]
  if (name === undefined || type === undefined) return undefined
  return {
    ...descriptionIn(item),
    name,
    type,
    arguments: itemsIn(item.get('arguments'), argumentIn),
    directives: itemsIn(item.get('directives'), directiveIn),
  }
}

export function objectIn(meta: ObjectValue): ObjectDefinition | undefined {
  const name = nameOf(meta.get('name'))
  if (name === undefined) return undefined
  return {
    ...descriptionIn(meta),
    name,
    fields: itemsIn(meta.get('fields'), fieldIn),
    directives: itemsIn(meta.get('directives'), directiveIn),
  }
}

export function resolverIn(meta: ObjectValue): ResolverField | undefined {
  const location = meta.get('location')
  const given = meta.get('field')
  const field = isObject(given) ? fieldIn(given) : undefined
  if (field === undefined || (location !== 'Query' && location !== 'Mutation')) return undefined
  return { location, field }
}
