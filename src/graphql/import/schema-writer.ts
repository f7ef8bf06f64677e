// Writes the collections, indexes and functions of an imported schema. Existing objects of the same name are adopted:
// they keep their definition and get the metadata. The model applies all rules and rights of the database.

import { catchError } from '../../base/catch-error.ts'
import { msg } from '../../base/message.ts'
import { Failure } from '../../model/failure.ts'
import type { Session } from '../../model/session.ts'
import { changeDocument, createDocument, deleteDocument } from '../../model/write.ts'
import type { IndexDefinition } from '../../storage/store/index-definition.ts'
import {
  type Lambda,
  native,
  type ObjectValue,
  Ref,
  refKey,
  TransactionTime,
  type Value,
} from '../../values/value.ts'
import { SchemaError } from '../errors.ts'
import { metadataOf } from '../schema/metadata.ts'
import { objectsWithMetadata } from '../schema/stored-schema.ts'

type ObjectKind = 'collections' | 'indexes' | 'functions'

const kindNames: Readonly<Record<ObjectKind, string>> = {
  collections: 'collection',
  indexes: 'index',
  functions: 'function',
}

/** Terms and values are names of fields in `data`. */
interface IndexPlan {
  readonly name: string
  readonly source: Ref
  readonly terms: readonly string[]
  /** Undefined if the values of an existing index do not matter. */
  readonly values: readonly string[] | undefined
  readonly isUnique: boolean
}

/** Remembers which objects belong to the imported schema. */
export class SchemaObjectWriter {
  readonly #session: Session
  readonly #written = new Set<string>()
  /** The indexes without metadata that were deleted together with their collections. */
  readonly #deleted = new Map<string, IndexDefinition>()

  constructor(session: Session) {
    this.#session = session
  }

  /**
   * `meta` describes the GraphQL type of the collection's documents. Absent for collections whose documents link two
   * other documents (a many-to-many relation).
   */
  collection(name: string, meta: ObjectValue | undefined): Ref {
    return this.#find('collections', name, meta) ?? this.#create('collections', name, meta, [])
  }

  /** Throws if an existing index has another definition. */
  index(plan: IndexPlan, meta: ObjectValue | undefined): void {
    const { isUnique, name, source, terms, values } = plan
    const known = this.#resolve('indexes', name)
    const definition =
      known === undefined ? this.#deleted.get(name) : this.#session.transaction.catalogue.index(known)
    const problem = definition && difference(definition, plan)
    // A deleted index had another source: the deleted collection.
    if (problem !== undefined && (known !== undefined || problem !== 'sources'))
      throw new SchemaError(msg`The index '${name}' exists already and has other ${problem}.`)
    const paths = (fields: readonly string[]): Value =>
      fields.map(field => new Map([['field', ['data', field]]]))
    if (this.#find('indexes', name, meta) !== undefined) return
    this.#create('indexes', name, meta, [
      ['source', source],
      ...(terms.length > 0 ? [['terms', paths(terms)] as const] : []),
      ...(values !== undefined && values.length > 0 ? [['values', paths(values)] as const] : []),
      ...(isUnique ? ([['unique', true]] as const) : []),
      ['serialized', true],
    ])
  }

  /** An existing function keeps its body. */
  functionNamed(name: string, body: () => Lambda, meta: ObjectValue): void {
    if (this.#find('functions', name, meta) === undefined)
      this.#create('functions', name, meta, [['body', body()]])
  }

  /** Removes the metadata of all objects that were not written. */
  removeOtherMetadata(): void {
    for (const kind of ['collections', 'indexes', 'functions'] as const)
      for (const { ref } of objectsWithMetadata(kind, this.#session))
        if (!this.#written.has(refKey(ref))) this.#change(ref, null)
  }

  /** Deletes all objects with metadata, and the documents of the deleted collections. */
  deleteAll(): void {
    for (const kind of ['functions', 'indexes', 'collections'] as const)
      for (const { name, ref } of objectsWithMetadata(kind, this.#session)) {
        if (kind === 'collections') this.#rememberIndexes(ref)
        translated(kind, name, () => deleteDocument(ref, this.#session))
      }
  }

  #rememberIndexes(collection: Ref): void {
    const { database, transaction } = this.#session
    for (const index of transaction.catalogue.indexesOf(database, Number(collection.id)))
      if (!index.isOwn) this.#deleted.set(index.name, index)
  }

  #resolve(kind: ObjectKind, name: string): Ref | undefined {
    const { database, transaction } = this.#session
    return transaction.catalogue.resolve(database, native[kind], name)
  }

  /** Returns an existing object after its metadata has been written. */
  #find(kind: ObjectKind, name: string, meta: ObjectValue | undefined): Ref | undefined {
    const ref = this.#resolve(kind, name)
    if (ref === undefined) return undefined
    const isWritten = this.#written.has(refKey(ref))
    this.#written.add(refKey(ref))
    const known = metadataOf(this.#session.transaction.get(ref)?.fields)
    if (meta === undefined && known !== undefined) return ref
    if (meta === undefined && isWritten) return ref
    translated(kind, name, () => {
      // An update merges objects, so the former metadata is removed first.
      if (known !== undefined) this.#change(ref, null)
      this.#change(ref, metadata(meta))
    })
    return ref
  }

  #change(ref: Ref, gql: Value): void {
    changeDocument('update', ref, new Map([['data', new Map([['gql', gql]])]]), this.#session)
  }

  #create(
    kind: ObjectKind,
    name: string,
    meta: ObjectValue | undefined,
    fields: readonly (readonly [string, Value])[],
  ): Ref {
    const { database } = this.#session
    const params = new Map<string, Value>([
      ['name', name],
      ...fields,
      ['data', new Map([['gql', metadata(meta)]])],
    ])
    const collection = new Ref(database, native.collections, BigInt(native[kind]))
    const { ref } = translated(kind, name, () => createDocument(collection, undefined, params, this.#session))
    this.#written.add(refKey(ref))
    return ref
  }
}

function metadata(meta: ObjectValue | undefined): ObjectValue {
  const ts = ['ts', TransactionTime.time] as const
  return new Map<string, Value>(meta === undefined ? [ts] : [ts, ['meta', meta]])
}

/** Runs a write, and converts violations of the model's rules. */
function translated<T>(kind: ObjectKind, name: string, write: () => T): T {
  return catchError(Failure, write, error => {
    const [fault] = error.faults
    const what = `${kindNames[kind]} '${name}'`
    if (fault?.kind === 'permission denied')
      throw new SchemaError('Insufficient privileges to perform the action.', 403)
    if (fault?.kind === 'staged schema')
      throw new SchemaError(`The ${what} cannot be written while a schema is staged.`)
    if (fault?.kind === 'destructive')
      throw new SchemaError(`The ${what} cannot be deleted: the database is protected.`)
    const isName = fault?.kind === 'invalid fields' && fault.failures.some(({ path }) => path[0] === 'name')
    throw new SchemaError(
      isName
        ? `'${name}' is no valid name of a ${kindNames[kind]}.`
        : `The ${what} cannot be written: ${error.message}.`,
    )
  })
}

/** Returns the part in which an existing index differs from a plan; undefined if it can be used. */
function difference(index: IndexDefinition, plan: IndexPlan): string | undefined {
  const pathTexts = (fields: IndexDefinition['terms']) => fields.map(({ path }) => path?.join('.'))
  const wanted = (fields: readonly string[]) => fields.map(field => `data.${field}`)
  const [source] = index.sources
  const covers = index.sources.length === 1 && source?.collections !== '_' && source?.collections.length === 1
  const terms = pathTexts(index.terms)
  const isSame = (found: readonly (string | undefined)[], fields: readonly string[]) =>
    found.length === fields.length &&
    wanted(fields).every((path, at) => found[at] === undefined || found[at] === path)
  if (!isSame(terms, plan.terms)) return 'terms'
  if (plan.values !== undefined && !isSame(pathTexts(index.values), plan.values)) return 'values'
  if (plan.isUnique && !index.unique) return 'uniqueness'
  return covers && source.collections[0] !== Number(plan.source.id) ? 'sources' : undefined
}
