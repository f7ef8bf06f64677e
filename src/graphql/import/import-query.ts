// Imports a schema: creates the missing collections, indexes and functions, and writes the metadata, in one transaction.

import { longCall } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'
import type { Query, RenderedResponse } from '../../model/language.ts'
import type { Session } from '../../model/session.ts'
import type { Ref, Value } from '../../values/value.ts'
import { SchemaError } from '../errors.ts'
import { type Library, libraryOf } from '../library.ts'
import { databaseSchema } from '../schema/database-schema.ts'
import {
  directiveOf,
  type FieldDefinition,
  isEmbedded,
  namedType,
  type ObjectDefinition,
  type SchemaDefinition,
} from '../schema/definitions.ts'
import { generatedSdl } from '../schema/generated-sdl.ts'
import { fieldMeta, objectMeta, resolverMeta } from '../schema/metadata.ts'
import { printDefinition } from '../schema/print-definition.ts'
import { readSdl } from '../schema/read-sdl.ts'
import { type Relations, relationsOf } from '../schema/relations.ts'
import { readSchemaText, readStoredSchema, writeSchemaText } from '../schema/stored-schema.ts'
import { type ImportMode, importModes } from '../wire/import-options.ts'
import { checkDefinition, checkGenerated } from './check-definition.ts'
import {
  combine,
  completedObject,
  completedRootField,
  generatedResolvers,
  indexName,
  readsIndex,
  rejectSharedNames,
  resolverName,
  uniqueIndexName,
} from './completed-definition.ts'
import { generatedBody, stubBody } from './function-bodies.ts'
import { SchemaObjectWriter } from './schema-writer.ts'

/** The roles of keys that may import a schema. */
const importers: ReadonlySet<string | undefined> = new Set(['admin', 'server'])
/** The roles of keys that may read the text of the schema. */
const readers: ReadonlySet<string | undefined> = new Set([...importers, 'server-readonly'])

export class ImportQuery implements Query {
  readonly effect = 'write'
  readonly isLong = true
  readonly #text: string
  readonly #mode: string

  constructor(text: string | undefined, mode: string) {
    this.#text = text ?? ''
    this.#mode = mode
  }

  evaluate(session: Session): RenderedResponse {
    requireRole(importers, session)
    const mode = importModes.find(each => each === this.#mode)
    if (mode === undefined)
      throw new SchemaError(
        `Unknown import mode '${this.#mode}'. Known modes are: ${importModes.join(', ')}.`,
      )
    importSchema(this.#text, mode, session, libraryOf(session.memo))
    return { status: 200, body: '' }
  }

  value(): Value {
    throw new RequestError('bad request', msg`An import cannot be evaluated here.`)
  }
}

export class SchemaTextQuery implements Query {
  readonly effect = 'read'

  evaluate(session: Session): RenderedResponse {
    requireRole(readers, session)
    return { status: 200, body: readSchemaText(session) }
  }

  value(): Value {
    throw new RequestError('bad request', msg`The schema cannot be read here.`)
  }
}

/** Every caller may read the generated schema, because introspection returns it, too. */
export class GeneratedTextQuery implements Query {
  readonly effect = 'read'

  evaluate(session: Session): RenderedResponse {
    const { generated, library, units } = databaseSchema(session, libraryOf(session.memo))
    longCall(units)
    return { status: 200, body: `${library.printSchema(generated)}\n` }
  }

  value(): Value {
    throw new RequestError('bad request', msg`The schema cannot be read here.`)
  }
}

function requireRole(roles: ReadonlySet<string | undefined>, { authority, caller }: Session): void {
  const role = authority.kind === 'builtin' && caller.identity === undefined ? authority.role : undefined
  if (!roles.has(role)) throw new SchemaError('Insufficient privileges to perform the action.', 403)
}

function importSchema(text: string, mode: ImportMode, session: Session, library: Library): void {
  const given = readSdl(text, library)
  const earlier = mode === 'merge' ? readStoredSchema(session, library).definition : undefined
  const whole = earlier === undefined ? given : combine(earlier, given)
  checkDefinition(whole)
  const relations = relationsOf(whole)
  checkGenerated(generatedSdl(whole, relations), library)
  const writer = new SchemaObjectWriter(session)
  if (mode === 'override') writer.deleteAll()
  new Importer(writer, whole, relations).write(given)
  if (mode === 'replace') writer.removeOtherMetadata()
  const isWholeText = earlier === undefined || readSchemaText(session) === ''
  writeSchemaText(isWholeText ? text : printDefinition(whole), session)
}

class Importer {
  readonly #writer: SchemaObjectWriter
  readonly #whole: SchemaDefinition
  readonly #relations: Relations
  readonly #collections = new Map<string, Ref>()
  /** The fields of `Query` and `Mutation` by the names of their indexes and functions. */
  readonly #fieldsByObject = { indexes: new Map<string, string>(), functions: new Map<string, string>() }

  constructor(writer: SchemaObjectWriter, whole: SchemaDefinition, relations: Relations) {
    this.#writer = writer
    this.#whole = whole
    this.#relations = relations
  }

  /** Writes the objects of `given`, and the relations of the whole schema. */
  write(given: SchemaDefinition): void {
    const isGiven = new Set(given.objects.map(({ name }) => name))
    for (const object of this.#whole.objects.filter(each => !isEmbedded(each))) {
      const completed = completedObject(object, this.#relations)
      const name = String(directiveOf(completed, 'collection')?.args.name)
      const meta = isGiven.has(object.name) ? objectMeta(completed) : undefined
      this.#collections.set(object.name, this.#writer.collection(name, meta))
    }
    const links = new Map(
      this.#relations.linkCollections.map(name => [name, this.#writer.collection(name, undefined)] as const),
    )
    for (const { isUnique, name, source, terms, values } of this.#relations.indexes) {
      const ref = 'type' in source ? this.#collections.get(source.type) : links.get(source.collection)
      if (ref !== undefined) this.#writer.index({ name, source: ref, terms, values, isUnique }, undefined)
    }
    for (const object of given.objects) if (!isEmbedded(object)) this.#uniques(object)
    for (const field of given.queries) this.#rootField('Query', field)
    for (const field of given.mutations) this.#rootField('Mutation', field)
    for (const object of given.objects) this.#generatedFunctions(object, given)
  }

  #uniques(object: ObjectDefinition): void {
    const source = this.#collections.get(object.name) as Ref
    for (const field of object.fields) {
      if (directiveOf(field, 'unique') === undefined) continue
      const name = uniqueIndexName(object, field)
      this.#writer.index({ name, source, terms: [field.name], values: [], isUnique: true }, undefined)
    }
  }

  #rootField(root: 'Query' | 'Mutation', field: FieldDefinition): void {
    const coordinate = `${root}.${field.name}`
    if (root === 'Query' && readsIndex(field, this.#whole.objects)) {
      const name = indexName(field)
      rejectSharedNames(this.#fieldsByObject.indexes, name, coordinate)
      this.#fieldsByObject.indexes.set(name, coordinate)
      const source = this.#collections.get(namedType(field.type)) as Ref
      const terms = field.arguments.map(argument => argument.name)
      const meta = fieldMeta(completedRootField(field, true))
      this.#writer.index({ name, source, terms, values: undefined, isUnique: false }, meta)
      return
    }
    const name = resolverName(field)
    rejectSharedNames(this.#fieldsByObject.functions, name, coordinate)
    this.#fieldsByObject.functions.set(name, coordinate)
    const meta = resolverMeta({ location: root, field: completedRootField(field, false) })
    this.#writer.functionNamed(name, () => stubBody(name), meta)
  }

  /** Writes the functions of `@generateUDFResolvers`. Types with relations get none. */
  #generatedFunctions(object: ObjectDefinition, { mutations, queries }: SchemaDefinition): void {
    if (directiveOf(object, 'generateUDFResolvers') === undefined) return
    if (object.fields.some(({ name }) => this.#relations.of.has(`${object.name}.${name}`))) return
    const collection = this.#collections.get(object.name) as Ref
    const own = new Set([...queries, ...mutations].map(({ name }) => name))
    for (const [location, field] of generatedResolvers(object.name)) {
      const { name } = field
      if (own.has(name)) continue
      const kind = name.slice(0, name.indexOf(object.name))
      const meta = resolverMeta({ location, field })
      this.#writer.functionNamed(name, () => generatedBody(kind, collection), meta)
    }
  }
}
