// Reads the GraphQL schema of a database. Types with a collection, query fields and resolvers are in the metadata of
// collections, indexes and functions. Embedded types, inputs and enums have no object of their own, so they are read
// from the stored text of the schema.

import { step, stepsPerDefinition } from '../../base/effort.ts'
import { textIn } from '../../model/schema/definition-parts.ts'
import { readSchemaFiles, writeSchemaFiles } from '../../model/schema/schema-files.ts'
import type { Session } from '../../model/session.ts'
import { native, type ObjectValue, type Ref } from '../../values/value.ts'
import type { Library } from '../library.ts'
import {
  type FieldDefinition,
  isEmbedded,
  type ObjectDefinition,
  type SchemaDefinition,
} from './definitions.ts'
import { fieldIn, metadataOf, metaOf, objectIn, resolverIn } from './metadata.ts'
import { readSdl } from './read-sdl.ts'

const schemaFileName = 'schema.gql'

export interface SchemaObject {
  readonly ref: Ref
  readonly name: string
}

interface StoredSchema {
  readonly definition: SchemaDefinition
  /** The collections by type. */
  readonly collections: ReadonlyMap<string, SchemaObject>
  /** The indexes by query field. */
  readonly indexes: ReadonlyMap<string, SchemaObject>
  /** The functions by field, such as `Query.sayHello`. */
  readonly functions: ReadonlyMap<string, SchemaObject>
}

/** Returns an empty text if the database has no schema. */
export function readSchemaText(session: Session): string {
  return readSchemaFiles('graphql', session)[0]?.text ?? ''
}

export function writeSchemaText(text: string, session: Session): void {
  writeSchemaFiles('graphql', [{ name: schemaFileName, text }], session)
}

interface StoredObject extends SchemaObject {
  readonly fields: ObjectValue
}

/** Returns the objects in the order of their creation. */
export function objectsWithMetadata(
  kind: 'collections' | 'indexes' | 'functions',
  { database, transaction }: Session,
): readonly StoredObject[] {
  const found: StoredObject[] = []
  for (const { document: ref } of transaction.documents(database, native[kind], {})) {
    // This loop only reads definitions, and parses nothing.
    step(stepsPerDefinition / 8)
    const fields = transaction.get(ref)?.fields
    if (fields === undefined || metadataOf(fields) === undefined) continue
    found.push({ ref, name: textIn(fields, 'name') ?? '', fields })
  }
  return found
}

export function readStoredSchema(session: Session, library: Library): StoredSchema {
  const text = readSchemaText(session)
  const { enums, inputs, objects } = text === '' ? noDefinitions : readSdl(text, library)
  const types = new Map<string, ObjectDefinition>()
  const collections = new Map<string, SchemaObject>()
  for (const { fields, name, ref } of objectsWithMetadata('collections', session)) {
    const meta = metaOf(fields)
    const object = meta && objectIn(meta)
    if (object === undefined || isEmbedded(object)) continue
    types.set(object.name, object)
    collections.set(object.name, { ref, name })
  }
  for (const object of objects)
    if (isEmbedded(object) && !types.has(object.name)) types.set(object.name, object)
  const fields = readFields(session)
  const definition = {
    objects: [...types.values()],
    inputs,
    enums,
    queries: [...fields.Query.values()],
    mutations: [...fields.Mutation.values()],
  }
  return { definition, collections, indexes: fields.indexes, functions: fields.functions }
}

const noDefinitions: SchemaDefinition = { objects: [], inputs: [], enums: [], queries: [], mutations: [] }

interface RootFields extends Pick<StoredSchema, 'indexes' | 'functions'> {
  readonly Query: ReadonlyMap<string, FieldDefinition>
  readonly Mutation: ReadonlyMap<string, FieldDefinition>
}

function readFields(session: Session): RootFields {
  const roots = { Query: new Map<string, FieldDefinition>(), Mutation: new Map<string, FieldDefinition>() }
  const indexes = new Map<string, SchemaObject>()
  const functions = new Map<string, SchemaObject>()
  for (const { fields, name, ref } of objectsWithMetadata('indexes', session)) {
    const meta = metaOf(fields)
    const field = meta && fieldIn(meta)
    if (field === undefined) continue
    roots.Query.set(field.name, {
      ...field,
      directives: field.directives.filter(each => each.name !== 'resolver'),
    })
    indexes.set(field.name, { ref, name })
  }
  for (const { fields, name, ref } of objectsWithMetadata('functions', session)) {
    const meta = metaOf(fields)
    const resolver = meta && resolverIn(meta)
    if (resolver === undefined) continue
    const { field, location } = resolver
    const others = field.directives.filter(each => each.name !== 'resolver')
    const own = field.directives.find(each => each.name === 'resolver') ?? { name: 'resolver', args: {} }
    roots[location].set(field.name, { ...field, directives: [...others, own] })
    functions.set(`${location}.${field.name}`, { ref, name })
  }
  return { ...roots, indexes, functions }
}
