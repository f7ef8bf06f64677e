// Completes the directives of an imported schema: names that are left out get their defaults, so the metadata contains
// the names of all schema objects. Also combines a schema with the schema of earlier imports.

import { SchemaError } from '../errors.ts'
import {
  type ArgumentDefinition,
  collectionName,
  type DirectiveUse,
  directiveOf,
  directiveText,
  type FieldDefinition,
  isEmbedded,
  namedType,
  type ObjectDefinition,
  type SchemaDefinition,
  type TypeRef,
} from '../schema/definitions.ts'
import { isPaginated } from '../schema/generated-sdl.ts'
import type { Relations } from '../schema/relations.ts'

/** A definition of `later` replaces the definition of `earlier` with the same name. */
export function combine(earlier: SchemaDefinition, later: SchemaDefinition): SchemaDefinition {
  const united = <T extends { readonly name: string }>(
    left: readonly T[],
    right: readonly T[],
  ): readonly T[] => [...new Map([...left, ...right].map(each => [each.name, each])).values()]
  return {
    objects: united(earlier.objects, later.objects),
    inputs: united(earlier.inputs, later.inputs),
    enums: united(earlier.enums, later.enums),
    queries: united(earlier.queries, later.queries),
    mutations: united(earlier.mutations, later.mutations),
  }
}

export function completedObject(object: ObjectDefinition, relations: Relations): ObjectDefinition {
  const others = object.directives.filter(({ name }) => name !== 'collection')
  const collection: DirectiveUse = { name: 'collection', args: { name: collectionName(object) } }
  return {
    ...object,
    fields: object.fields.map(field => completedField(object, field, relations)),
    directives: [...others, collection],
  }
}

function completedField(
  owner: ObjectDefinition,
  field: FieldDefinition,
  relations: Relations,
): FieldDefinition {
  const key = `${owner.name}.${field.name}`
  const directives = field.directives.map((directive): DirectiveUse => {
    switch (directive.name) {
      case 'relation': {
        const name = relations.names.get(key) ?? directive.args.name
        return name === undefined ? directive : { name: 'relation', args: { name } }
      }
      case 'unique':
        return { name: 'unique', args: { index: uniqueIndexName(owner, field) } }
      case 'resolver':
        return resolverDirective(field)
      default:
        return directive
    }
  })
  return { ...field, directives }
}

/** The default name of the index is the name that the hosted service generated. */
export function uniqueIndexName(owner: ObjectDefinition, field: FieldDefinition): string {
  return directiveText(field, 'unique', 'index') ?? `unique_${owner.name}_${field.name}`
}

function resolverDirective(field: FieldDefinition): DirectiveUse {
  return { name: 'resolver', args: { name: resolverName(field), paginated: isPaginated(field) } }
}

/** By default, a resolver has the name of its field. */
export function resolverName(field: FieldDefinition): string {
  return directiveText(field, 'resolver', 'name') ?? field.name
}

/** A field of `Query` that returns documents reads them from an index. */
export function readsIndex(field: FieldDefinition, objects: readonly ObjectDefinition[]): boolean {
  if (directiveOf(field, 'resolver') !== undefined) return false
  const target = objects.find(({ name }) => name === namedType(field.type))
  return target !== undefined && !isEmbedded(target)
}

export function indexName(field: FieldDefinition): string {
  return directiveText(field, 'index', 'name') ?? field.name
}

export function completedRootField(field: FieldDefinition, isIndex: boolean): FieldDefinition {
  const directives: readonly DirectiveUse[] = isIndex
    ? [{ name: 'index', args: { name: indexName(field) } }]
    : [resolverDirective(field)]
  return { ...field, directives }
}

const idArgument: ArgumentDefinition = {
  name: 'id',
  type: { kind: 'non-null', of: { kind: 'named', name: 'ID' } },
}

/** The fields whose functions `@generateUDFResolvers` creates for a type, by location. */
export function generatedResolvers(
  type: string,
): readonly (readonly ['Query' | 'Mutation', FieldDefinition])[] {
  const named = (name: string): TypeRef => ({ kind: 'named', name })
  const required = (of: TypeRef): TypeRef => ({ kind: 'non-null', of })
  const field = (
    name: string,
    result: TypeRef,
    args: readonly ArgumentDefinition[],
    paginated = false,
  ): FieldDefinition => ({
    name,
    type: result,
    arguments: args,
    directives: [{ name: 'resolver', args: { name, paginated } }],
  })
  const data: ArgumentDefinition = { name: 'data', type: required(named(`${type}Input`)) }
  return [
    ['Mutation', field(`create${type}`, required(named(type)), [data])],
    ['Query', field(`find${type}ByID`, named(type), [idArgument])],
    ['Mutation', field(`update${type}`, named(type), [idArgument, data])],
    ['Mutation', field(`delete${type}`, named(type), [idArgument])],
    ['Query', field(`list${type}`, { kind: 'list', of: required(named(type)) }, [], true)],
  ]
}

/** Throws if another field uses the same index or function. `fields`: the fields by the names of these objects. */
export function rejectSharedNames(
  fields: ReadonlyMap<string, string>,
  name: string,
  coordinate: string,
): void {
  const other = fields.get(name)
  if (other !== undefined && other !== coordinate)
    throw new SchemaError(`The fields '${other}' and '${coordinate}' use the same object '${name}'.`)
}
