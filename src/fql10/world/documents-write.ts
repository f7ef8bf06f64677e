// Creates, changes and deletes documents of all kinds. The first check that fails determines the error of a write.

import { catchError } from '../../base/catch-error.ts'
import { Failure } from '../../model/failure.ts'
import { mayOnDocument } from '../../model/permissions.ts'
import { usersOfRole } from '../../model/resources/renaming.ts'
import type { WriteRules } from '../../model/resources/resource.ts'
import { textIn } from '../../model/schema/definition-parts.ts'
import { valueTypeText } from '../../model/schema/field-types.ts'
import type { Session } from '../../model/session.ts'
import { changeDocument, createDocument, deleteDocument } from '../../model/write.ts'
import {
  collectionOf,
  firstUserCollection,
  native,
  type ObjectValue,
  Ref,
  type Value as StoredValue,
  sameRef,
  Time,
  TransactionTime,
} from '../../values/value.ts'
import type { Call, FieldsMode, Writer } from '../call.ts'
import type { QueryFailure } from '../failure/query-failure.ts'
import { id as idParameter } from '../library/parameters.ts'
import { isRejectedField } from '../schema/field-names.ts'
import { isSchemaNative } from '../schema/fsl/definition-of-item.ts'
import { schemaFaults } from '../schema/push/current-files.ts'
import { Doc, isNull, type Module, type Struct, typeName, type Value } from '../value.ts'
import { prepareDefinition, uniqueViolation } from './collection-writing.ts'
import type { DocumentReader } from './documents-read.ts'
import { Migrations } from './migrations.ts'
import { definitionFailures, unknownRole } from './native-checks.ts'
import { checkFields } from './native-fields.ts'
import type { Names } from './query-names.ts'
import { schemaPartsOf } from './schema-parts.ts'
import { collectionRef } from './stored-sets.ts'
import { storedOf, UnstorableValue } from './stored-values.ts'
import {
  constraintError,
  failedWriteText,
  invalidSchema,
  pastWriteError,
  permissionDenied,
  sameQueryError,
  type Target,
  writeFailure,
} from './write-failures.ts'

/** References to roles and the complete schema are checked later: `finish` checks them when the query ends. */
const writeRules: WriteRules = {
  keepsEmpty: true,
  idNeedsCreate: true,
  writesSchema: true,
  replacesAllFields: true,
  languageChecksTexts: true,
  checksTypes: true,
  keepsTokenSecret: true,
  renewsTimeToLive: true,
  explainsRoles: true,
  historyDaysDefault: 0,
}

export class QueryDocumentWriter implements Writer {
  readonly #session: Session
  readonly #names: Names
  readonly #reader: DocumentReader
  /** User collections in which this query has written documents. */
  readonly #written = new Set<number>()
  /** The last call that has changed the schema. */
  #schemaCall: Call | undefined
  /** Collections whose name or alias this query has set, each with the call that has set it. */
  readonly #namedCollections: (readonly [Ref, Call])[] = []
  /** Checks that run after evaluation. */
  readonly #atEnd: (() => void)[] = []
  readonly #migrations: Migrations

  constructor(session: Session, names: Names, reader: DocumentReader) {
    this.#session = session
    this.#names = names
    this.#reader = reader
    this.#migrations = new Migrations(session)
  }

  create(collection: Module, data: Struct, mode: FieldsMode, call: Call): Doc {
    requirePresent(call)
    const session = this.#session
    session.callSite = call
    const definition = collectionRef(collection, session)
    const number = Number(definition.id)
    const isUser = number >= firstUserCollection
    const title = isUser ? (this.#names.moduleOf(definition)?.name ?? collection.name) : collection.name
    const target: Target = {
      action: 'create',
      collection: title,
      ref: isUser ? undefined : new Ref(session.database, number, -1n),
      name: undefined,
    }
    if (mode === 'default') this.#rejectComputed(definition, data, target, call)
    const [id, rest] = mode === 'default' ? this.#takeId(data, isUser, target, call) : [undefined, data]
    const given = stored(rest, call)
    const fields = isUser
      ? documentFields(given, mode)
      : this.#nativeFields(number, 'create', given, undefined, target, call)
    const made = this.#guarded(target, call, () =>
      createDocument(definition, id, fields, session, {
        ...writeRules,
        check: () => {
          if (isUser) this.#rejectSameQuery(definition, call)
          if (isUser && mode === 'default') rejectReserved(given, target, call, false)
        },
        ...this.#definitionRules(number, undefined, target, call),
      }),
    )
    this.#noteWrite(made.ref, call)
    if (number === native.collections) this.#namedCollections.push([made.ref, call])
    if (!isUser) this.#names.noteCreated(made.ref)
    const secret = textIn(made.fields, 'secret')
    return new Doc(made.ref, this.#reader.collectionOf(made.ref), {
      name: isUser ? undefined : textIn(made.fields, 'name'),
      ...(secret !== undefined && !isUser && { shown: new Map([['secret', secret]]) }),
    })
  }

  change(how: 'update' | 'replace', doc: Doc, data: Struct, mode: FieldsMode, call: Call): Doc {
    requirePresent(call)
    this.#requireExisting(doc, call)
    const session = this.#session
    session.callSite = call
    const { ref } = doc
    const isUser = ref.collection >= firstUserCollection
    const before = session.transaction.get(ref)?.fields ?? new Map<string, StoredValue>()
    const target: Target = {
      action: 'update',
      collection: doc.collection.name,
      ref,
      name: doc.name === undefined ? undefined : (textIn(before, 'name') ?? doc.name),
    }
    const given = stored(data, call)
    if (isUser && mode === 'default') this.#rejectComputed(collectionOf(ref), data, target, call)
    const fields = isUser
      ? documentFields(given, mode)
      : this.#nativeFields(ref.collection, how, given, doc, target, call)
    if (!isUser) this.#names.keep(ref)
    else if (this.#names.deleted.has(collectionOf(ref).id)) throw sameQueryError(call)
    this.#guarded(target, call, () =>
      changeDocument(how, ref, fields, session, {
        ...writeRules,
        check: () => {
          if (isUser) this.#rejectSameQuery(collectionOf(ref), call)
          else this.#rejectWritten(ref, call)
          if (isUser && mode === 'default') rejectReserved(given, target, call, false)
        },
        ...this.#definitionRules(ref.collection, ref, target, call),
      }),
    )
    this.#noteWrite(ref, call)
    if (ref.collection === native.collections && (given.has('name') || given.has('alias'))) {
      this.#namedCollections.push([ref, call])
    }
    const title = textIn(session.transaction.get(ref)?.fields, 'name')
    if (doc.name === undefined || title === undefined || title === doc.name) return doc
    return new Doc(ref, doc.collection, { name: title })
  }

  remove(doc: Doc, call: Call): Doc {
    requirePresent(call)
    this.#requireExisting(doc, call)
    const { ref } = doc
    const target: Target = { action: 'delete', collection: doc.collection.name, ref, name: doc.name }
    this.#session.callSite = call
    if (!mayOnDocument('delete', ref, this.#session)) throw permissionDenied(call)
    if (ref.collection >= firstUserCollection) this.#rejectSameQuery(collectionOf(ref), call)
    else {
      this.#rejectWritten(ref, call)
      this.#names.keep(ref)
    }
    this.#guarded(target, call, () => {
      deleteDocument(ref, this.#session)
    })
    this.#noteWrite(ref, call)
    if (ref.collection === native.collections) this.#names.deleted.set(ref.id, doc.name)
    if (ref.collection === native.roles) this.#rejectUsedRoleAtEnd(ref, target, call)
    return new Doc(ref, doc.collection, { name: doc.name, state: 'deleted' })
  }

  #guarded<T>(target: Target, call: Call, work: () => T): T {
    return catchError(Failure, work, failure => {
      throw uniqueViolation(failure, this.#session, call) ?? writeFailure(failure, target, call)
    })
  }

  /** The rule that checks and normalizes a collection definition before it is stored. Other documents have no rule. */
  #definitionRules(
    number: number,
    own: Ref | undefined,
    target: Target,
    call: Call,
  ): Pick<WriteRules, 'normalize'> {
    if (number !== native.collections) return {}
    return {
      normalize: fields => {
        const failures = prepareDefinition(fields, own, this.#session)
        if (failures.length > 0) throw constraintError(failedWriteText(target), failures, call)
        this.#migrations.addSteps(fields, own, call)
      },
    }
  }

  #requireExisting(doc: Doc, call: Call): void {
    // A write reads the whole document, even if an index covers the fields.
    const absence = this.#reader.absence(doc, call, true)
    if (absence === undefined) return
    const { code, message } = absence.onField ?? absence.onAssert
    throw call.failure(code, message)
  }

  #noteWrite(ref: Ref, call: Call): void {
    if (ref.collection >= firstUserCollection) this.#written.add(ref.collection)
    else if (isSchemaNative(ref.collection)) this.#schemaCall = call
  }

  /** Rejects a write to a document if this query has written or deleted the definition of its collection. */
  #rejectSameQuery(definition: Ref, call: Call): void {
    const isGone = this.#names.deleted.has(definition.id)
    if (isGone || schemaPartsOf(definition, this.#session).isWrittenHere) throw sameQueryError(call)
  }

  /** Rejects a write to a collection definition if this query has written documents of the collection. */
  #rejectWritten(ref: Ref, call: Call): void {
    if (ref.collection === native.collections && this.#written.has(Number(ref.id))) throw sameQueryError(call)
  }

  #rejectComputed(definition: Ref, data: Struct, target: Target, call: Call): void {
    const { computed } = schemaPartsOf(definition, this.#session)
    if (computed.size === 0) return
    const failures = [...computed.keys()]
      .filter(name => data.has(name))
      .map(name => ({ paths: [[name]], message: 'Cannot write to a computed field' }))
    if (failures.length > 0) throw constraintError(failedWriteText(target), failures, call)
  }

  #takeId(data: Struct, isUser: boolean, target: Target, call: Call): readonly [bigint | undefined, Struct] {
    const isNumbered = isUser || isNumberedNative(target.ref?.collection)
    const given = data.get('id')
    if (given === undefined || !isNumbered) return [undefined, data]
    const id = idOf(given, target, call)
    return [id, new Map([...data].filter(([name]) => name !== 'id'))]
  }

  #nativeFields(
    number: number,
    mode: 'create' | 'update' | 'replace',
    given: ObjectValue,
    doc: Doc | undefined,
    target: Target,
    call: Call,
  ): ObjectValue {
    const session = this.#session
    rejectReserved(given, target, call, true)
    const before = (doc && session.transaction.get(doc.ref)?.fields) ?? new Map<string, StoredValue>()
    const { failures, stored: fields } = checkFields(number, mode, given, doc, before, session)
    const all = [...failures, ...definitionFailures(number, mode, given, before, doc, session)]
    if (all.length > 0) throw constraintError(failedWriteText(target), all, call)
    if (number === native.functions || number === native.keys) this.#requireRoleAtEnd(fields, target, call)
    return fields
  }

  /** Checks at the end of the query that a role exists, because the query may create the role later. */
  #requireRoleAtEnd(fields: ObjectValue, target: Target, call: Call): void {
    const role = fields.get('role')
    this.#atEnd.push(() => {
      const message = unknownRole(role, this.#session)
      if (message === undefined) return
      throw constraintError(failedWriteText(target), [{ paths: [['role']], message }], call)
    })
  }

  /**
   * Rejects the deletion of a role that schema objects use. The check runs at the end of the query, because the query
   * may still delete or change these objects.
   */
  #rejectUsedRoleAtEnd(role: Ref, target: Target, call: Call): void {
    const { name } = target
    if (name === undefined) return
    this.#atEnd.push(() => {
      const { database, transaction } = this.#session
      if (transaction.catalogue.resolve(database, role.collection, name) !== undefined) return
      const users = usersOfRole(name, this.#session)
      if (users.length === 0) return
      const failures = users.map(({ kind, label }) => ({
        paths: [['name']],
        message: `The ${kind} \`${label}\` refers to this document by its previous identifier \`${name}\`.`,
      }))
      throw constraintError(failedWriteText(target), failures, call)
    })
  }

  get changesSchema(): boolean {
    return this.#schemaCall !== undefined
  }

  finish(): void {
    for (const check of this.#atEnd) check()
    const call = this.#schemaCall
    if (call === undefined) return
    this.#checkSchema(call)
    this.#migrations.finish(call)
  }

  /** Throws `invalid_schema` at `call`, the last call that has changed the schema. */
  #checkSchema(call: Call): void {
    const nameFaults = this.#namedCollections.flatMap(([ref, at]) => {
      // A later call of the query may have deleted the collection.
      const exists = this.#session.transaction.get(ref) !== undefined
      const message = exists ? derivedNameFault(ref, this.#session) : undefined
      return message === undefined ? [] : [{ name: 'error', message, span: at.span } as const]
    })
    const faults = nameFaults.length > 0 ? nameFaults : schemaFaults(this.#session)
    if (faults.length > 0) throw invalidSchema(faults, call)
  }
}

function isNumberedNative(number: number | undefined): boolean {
  return number === native.keys || number === native.tokens || number === native.credentials
}

/** Rejects writes inside an `at` block. */
function requirePresent(call: Call): void {
  if (call.at !== undefined) throw pastWriteError(call)
}

/** Throws `invalid_type` for a value that cannot be stored. */
function stored(data: Struct, call: Call): ObjectValue {
  try {
    // An object always converts to an object.
    return storedOf(data) as ObjectValue
  } catch (error) {
    throw error instanceof UnstorableValue ? call.failure('invalid_type', error.message) : error
  }
}

/** Returns the top-level fields of a document in a user collection: `data`, and `ttl` if given. */
function documentFields(given: ObjectValue, mode: FieldsMode): ObjectValue {
  if (mode === 'plain' || !given.has('ttl')) return new Map([['data', given]])
  const data = new Map([...given].filter(([name]) => name !== 'ttl'))
  return new Map<string, StoredValue>([
    ['ttl', given.get('ttl') ?? null],
    ['data', data],
  ])
}

/** Rejects reserved field names, and a `ttl` that is not a time. */
function rejectReserved(given: ObjectValue, target: Target, call: Call, isNative: boolean): void {
  const reserved = [...given.keys()].filter(name => isRejectedField(name) && !(isNative && name === 'data'))
  if (reserved.length > 0) {
    const failures = reserved.map(name => ({
      paths: [[name]],
      message: 'Is a reserved field and cannot be used',
    }))
    throw constraintError(failedWriteText(target), failures, call)
  }
  const ttl = given.get('ttl') ?? null
  if (isNative || ttl === null || ttl instanceof Time || ttl instanceof TransactionTime) return
  const message = `Expected Time | Null, provided ${valueTypeText(ttl)}`
  throw constraintError(failedWriteText(target), [{ paths: [['ttl']], message }], call)
}

/** Throws `constraint_failure` for an invalid id. */
function idOf(given: Value, target: Target, call: Call): bigint {
  const invalidId = (message: string): QueryFailure =>
    constraintError(failedWriteText(target), [{ paths: [['id']], message }], call)
  if (isNull(given)) throw invalidId('Missing required field of type ID | String | Long')
  const id = idParameter.cast(given)
  if (id === undefined) {
    const type = given instanceof Map ? valueTypeText(stored(given, call)) : typeName(given)
    throw invalidId(`Expected ID | String | Long, provided ${type}`)
  }
  if (id < 0n) throw invalidId('id must be nonnegative')
  return id
}

/** A collection `Jar` has the types `Jar`, `JarCollection` and `NullJar`. */
function typesOf(name: string | undefined): readonly string[] {
  return name === undefined ? [] : [name, `${name}Collection`, `Null${name}`]
}

/** The types generated for the collection `own` must not conflict with those of another collection. */
function derivedNameFault(own: Ref, session: Session): string | undefined {
  const { transaction } = session
  const fields = transaction.get(own)?.fields
  const others = Array.from(transaction.documents(own.database, native.collections, {})).flatMap(
    ({ document }) => {
      if (sameRef(document, own)) return []
      const stored = transaction.get(document)?.fields
      return ['name', 'alias'].flatMap(kind => typesOf(textIn(stored, kind)))
    },
  )
  const otherTypes = new Set(others)
  for (const kind of ['name', 'alias']) {
    const name = textIn(fields, kind)
    const same = typesOf(name).filter(type => otherTypes.has(type))
    if (same.length === 0) continue
    const which = same.join(', ')
    return `The collection ${kind} \`${name}\` generates types that conflict with the following existing types: ${which}`
  }
  return undefined
}
