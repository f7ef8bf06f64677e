// Derives the form of the GraphQL schema that operations need: the generated schema, the relations, and the schema
// objects of all fields. The schema is cached until any schema object of the database changes.

import type { GraphQLScalarType, GraphQLSchema } from 'graphql'
import { isStackExhaustion } from '../../base/catch-error.ts'
import { longCall } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import type { Session } from '../../model/session.ts'
import { native, type Ref } from '../../values/value.ts'
import { SchemaError } from '../errors.ts'
import type { Library } from '../library.ts'
import type { FieldDefinition, ObjectDefinition } from './definitions.ts'
import { generatedSdl } from './generated-sdl.ts'
import { type Relations, relationsOf } from './relations.ts'
import { defineScalars } from './scalars.ts'
import { readStoredSchema, type SchemaObject } from './stored-schema.ts'

export interface DatabaseSchema {
  readonly library: Library
  /** UTF-16 units of the generated schema's text. */
  readonly units: number
  readonly generated: GraphQLSchema
  readonly objects: ReadonlyMap<string, ObjectDefinition>
  readonly relations: Relations
  /** The fields of `Query` and `Mutation` that the schema declares, by names such as `Query.sayHello`. */
  readonly declared: ReadonlyMap<string, FieldDefinition>
  /** The collections by type. */
  readonly collections: ReadonlyMap<string, SchemaObject>
  /** The indexes by query field. */
  readonly indexes: ReadonlyMap<string, SchemaObject>
  /** The functions by field, such as `Query.sayHello`. */
  readonly functions: ReadonlyMap<string, SchemaObject>
  /** Throws if the index or the collection of the relation does not exist. */
  readonly relationObject: (kind: 'indexes' | 'collections', name: string) => Ref
}

/** Measured bytes of memory for each UTF-16 unit of the generated schema's text. */
const bytesPerUnit = 60

export function databaseSchema(session: Session, library: Library): DatabaseSchema {
  const { database, transaction } = session
  return transaction.catalogue.derived(database, 'graphql schema', () => {
    const { counters } = transaction
    const { readBytes } = counters
    const schema = readDatabaseSchema(session, library)
    // The schema is cached for all queries, so the reads are not added to the costs of this query.
    counters.readBytes = readBytes
    transaction.catalogue.countDerived(database, schema.units * bytesPerUnit)
    return schema
  })
}

function readDatabaseSchema(session: Session, library: Library): DatabaseSchema {
  const { collections, definition, functions, indexes } = readStoredSchema(session, library)
  const relations = relationsOf(definition)
  const relationRefs = new Map<string, Ref | undefined>()
  const { database, transaction } = session
  for (const { name } of relations.indexes)
    relationRefs.set(`indexes ${name}`, transaction.catalogue.resolve(database, native.indexes, name))
  for (const name of relations.linkCollections)
    relationRefs.set(`collections ${name}`, transaction.catalogue.resolve(database, native.collections, name))
  const declared = new Map([
    ...definition.queries.map(field => [`Query.${field.name}`, field] as const),
    ...definition.mutations.map(field => [`Mutation.${field.name}`, field] as const),
  ])
  const sdl = generatedSdl(definition, relations)
  return {
    library,
    units: sdl.length,
    generated: buildGenerated(sdl, library),
    objects: new Map(definition.objects.map(each => [each.name, each])),
    relations,
    declared,
    collections,
    indexes,
    functions,
    relationObject(kind, name) {
      const ref = relationRefs.get(`${kind} ${name}`)
      if (ref !== undefined) return ref
      const what = kind === 'indexes' ? 'index' : 'collection'
      throw new SchemaError(`The ${what} '${name}' of a relation does not exist. Import the schema again.`)
    },
  }
}

/** Throws SchemaError if clients have written metadata that gives no valid schema. */
function buildGenerated(sdl: string, library: Library): GraphQLSchema {
  longCall(sdl.length)
  try {
    const schema = library.buildASTSchema(library.parse(sdl, { noLocation: true }), {
      assumeValid: true,
      assumeValidSDL: true,
    })
    defineScalars(name => schema.getType(name) as GraphQLScalarType | undefined, library)
    return schema
  } catch (error) {
    if (!(error instanceof Error) || isStackExhaustion(error)) throw error
    throw new SchemaError(
      msg`The GraphQL metadata of this database is invalid: ${error.message}. Import the schema again.`,
    )
  }
}
