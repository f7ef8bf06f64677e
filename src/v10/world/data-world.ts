// The data behind a query: what a session has, as the language sees it.

import { createHmac } from 'node:crypto'
import type { Session } from '../../model/session.ts'
import { timeFromMicros } from '../../values/time.ts'
import { DocumentValue, type Micros, Ref, type Value as StoredValue, sameRef } from '../../values/value.ts'
import type { Absence, BoundCall, Call, Documents, EventSources, SetReader, World } from '../call.ts'
import { nativeNumber } from '../library/natives.ts'
import { Doc, type Module, type Struct, UserCollection, type UserFunction, type Value } from '../value.ts'
import { AccessDocuments } from './access-documents.ts'
import { DocumentReader } from './documents-read.ts'
import { DocumentWriter } from './documents-write.ts'
import { SessionEventSources } from './event-sources.ts'
import { FunctionCaller } from './functions.ts'
import { Names } from './names.ts'
import { StoredSetReader } from './stored-sets.ts'
import { runtimeOf } from './stored-values.ts'

/** The world of one query. */
export class DataWorld implements World {
  readonly sets: SetReader
  readonly documents: Documents
  readonly eventSources: EventSources
  readonly #session: Session
  readonly #names: Names
  readonly #reader: DocumentReader
  readonly #functions: FunctionCaller
  readonly #writer: DocumentWriter

  constructor(session: Session) {
    this.#session = session
    this.#names = new Names(session)
    this.#reader = new DocumentReader(session, this.#names)
    this.#functions = new FunctionCaller(session, this.#reader)
    this.sets = new StoredSetReader(session, this.#reader)
    this.eventSources = new SessionEventSources(session)
    this.#writer = new DocumentWriter(session, this.#names, this.#reader)
    this.documents = this.#documents()
  }

  get cursorKey(): Uint8Array {
    const { database, host, memo, transaction } = this.#session
    const key = transaction.secretKey(() => host.logins.newKey(memo))
    return createHmac('sha256', key).update(`cursors of ${database}`).digest()
  }

  /** The query has been evaluated: what was written must hold together. Throws QueryFailures. */
  finish(): void {
    this.#writer.finish()
  }

  /** Whether the query has written definitions that schema files tell. */
  get changesSchema(): boolean {
    return this.#writer.changesSchema
  }

  global(name: string): Module | UserFunction | undefined {
    return this.#names.global(name)
  }

  absence(doc: Doc, call: Call): Absence | undefined {
    return this.#reader.absence(doc, call)
  }

  fields(doc: Doc, call: Call): Struct {
    return this.#reader.fields(doc, call)
  }

  field(doc: Doc, name: string, call: Call): Value | undefined {
    return this.#reader.field(doc, name, call)
  }

  tellUncovered(doc: Doc, name: string, call: Call): void {
    this.#reader.tellUncovered(doc, name, call)
  }

  collectionOf(ref: Ref): Module {
    return this.#reader.collectionOf(ref)
  }

  callUser(callee: UserFunction, args: readonly Value[], call: Call): Value | BoundCall {
    return this.#functions.call(callee, args, call)
  }

  #documents(): Documents {
    const writer = this.#writer
    const access = new AccessDocuments(this.#session, this.#reader)
    return {
      create: (collection, data, mode, call) => writer.create(collection, data, mode, call),
      change: (how, doc, data, mode, call) => writer.change(how, doc, data, mode, call),
      remove: (doc, call) => writer.remove(doc, call),
      byId: (collection, id, call) => this.reference(collection, id, call.at),
      byName: (collection, name) => this.named(collection, name),
      collection: (name, call) => {
        const found = this.#names.collection(name)
        if (found !== undefined) return found
        throw this.#unknown('collection', 'A collection', name, call)
      },
      userFunction: (name, call) => {
        const found = this.#names.function(name)
        if (found !== undefined) return found
        throw this.#unknown('function', 'A function', name, call)
      },
      definitionOf: name => (this.#names.collection(name) ?? this.#names.function(name))?.definition,
      credentialOf: document => access.credentialOf(document),
      tokensOf: (document, call) => access.tokensOf(document, call),
      verify: (credential, password, call) => access.verify(credential, password, call),
      login: (credential, password, ttl, call) => access.login(credential, password, ttl, call),
      identity: () => access.identity(),
      token: () => access.token(),
      isProtected: call => access.isProtected(call),
    }
  }

  /** A stored value as one of a query; references in it are read at a time of their own. */
  runtime(stored: StoredValue, readAt?: Micros): Value {
    return runtimeOf(stored, ref => this.#reader.document(ref, readAt))
  }

  /** A document as a predicate is given it: what it was or would be, whatever is stored. */
  version(given: StoredValue): Value {
    const found = this.#session.foundEntry
    if (given instanceof Ref && found !== undefined && sameRef(given, found.document)) {
      return this.#reader.reference(given, undefined, { name: '', covered: found.covered })
    }
    if (!(given instanceof DocumentValue)) return this.runtime(given)
    const { fields, ref, ts } = given
    const { collection, name: before } = this.#reader.reference(ref)
    const time = typeof ts === 'number' ? timeFromMicros(ts) : ts
    const title = fields.get('name')
    const name = before !== undefined && typeof title === 'string' ? title : before
    return new Doc(ref, collection, { name, state: { ts: time, fields } })
  }

  /** A document by its id, whether it is there or not. */
  reference(collection: Module, id: bigint, readAt?: Micros): Doc {
    const number =
      collection instanceof UserCollection ? Number(collection.ref.id) : (nativeNumber(collection) ?? 0)
    const ref = new Ref(this.#session.database, number, id)
    return new Doc(ref, this.#reader.collectionOf(ref), { readAt })
  }

  /** A schema object by its name, whether it is there or not. */
  named(collection: Module, name: string): Doc {
    return this.#reader.byName(nativeNumber(collection) ?? 0, name)
  }

  #unknown(kind: 'collection' | 'function', what: string, name: string, call: Call) {
    const message = `invalid argument \`${kind}\`: No such user ${kind} \`${name}\`.`
    const hint = `${what} cannot be created and used in the same query.`
    const remarks = this.#names.isMade(kind, name)
      ? [{ name: 'hint', message: hint, span: call.span } as const]
      : []
    return call.failure('invalid_argument', message, remarks)
  }
}
