// What the companions of collections and the methods of documents do, for one query.

import type { Session } from '../../model/session.ts'
import { Ref, type Time } from '../../values/value.ts'
import type { Call, Documents, FieldsMode } from '../call.ts'
import { nativeNumber } from '../library/natives.ts'
import {
  Doc,
  type Module,
  type SetValue,
  type Struct,
  UserCollection,
  type UserFunction,
  type Value,
} from '../value.ts'
import { AccessDocuments } from './access-documents.ts'
import type { DocumentReader } from './documents-read.ts'
import { DocumentWriter } from './documents-write.ts'
import type { Names } from './names.ts'

/** Those of a session. What writes, or asks who is there, is made when it is first needed. */
export class SessionDocuments implements Documents {
  readonly #session: Session
  readonly #names: Names
  readonly #reader: DocumentReader
  #ownWriter: DocumentWriter | undefined
  #ownAccess: AccessDocuments | undefined

  constructor(session: Session, names: Names, reader: DocumentReader) {
    this.#session = session
    this.#names = names
    this.#reader = reader
  }

  get #writer(): DocumentWriter {
    this.#ownWriter ??= new DocumentWriter(this.#session, this.#names, this.#reader)
    return this.#ownWriter
  }

  get #access(): AccessDocuments {
    this.#ownAccess ??= new AccessDocuments(this.#session, this.#reader)
    return this.#ownAccess
  }

  /** The query has been evaluated: what was written must hold together. Throws QueryFailures. */
  finish(): void {
    this.#ownWriter?.finish()
  }

  /** Whether the query has written definitions that schema files tell. */
  get changesSchema(): boolean {
    return this.#ownWriter?.changesSchema === true
  }

  create(collection: Module, data: Struct, mode: FieldsMode, call: Call): Doc {
    return this.#writer.create(collection, data, mode, call)
  }

  change(how: 'update' | 'replace', doc: Doc, data: Struct, mode: FieldsMode, call: Call): Doc {
    return this.#writer.change(how, doc, data, mode, call)
  }

  remove(doc: Doc, call: Call): Doc {
    return this.#writer.remove(doc, call)
  }

  byId(collection: Module, id: bigint, { at }: Pick<Call, 'at'>): Doc {
    const number =
      collection instanceof UserCollection ? Number(collection.ref.id) : (nativeNumber(collection) ?? 0)
    const ref = new Ref(this.#session.database, number, id)
    return new Doc(ref, this.#reader.collectionOf(ref), { readAt: at })
  }

  byName(collection: Module, name: string): Doc {
    return this.#reader.byName(nativeNumber(collection) ?? 0, name)
  }

  collection(name: string, call: Call): Module {
    const found = this.#names.collection(name)
    if (found !== undefined) return found
    throw this.#unknown('collection', 'A collection', name, call)
  }

  userFunction(name: string, call: Call): UserFunction {
    const found = this.#names.function(name)
    if (found !== undefined) return found
    throw this.#unknown('function', 'A function', name, call)
  }

  definitionOf(name: string): Doc | undefined {
    return (this.#names.collection(name) ?? this.#names.function(name))?.definition
  }

  credentialOf(document: Doc): Doc {
    return this.#access.credentialOf(document)
  }

  tokensOf(document: Doc, call: Call): SetValue {
    return this.#access.tokensOf(document, call)
  }

  verify(credential: Doc, password: string, call: Call): boolean {
    return this.#access.verify(credential, password, call)
  }

  login(credential: Doc, password: string, ttl: Time | undefined, call: Call): Doc {
    return this.#access.login(credential, password, ttl, call)
  }

  identity(): Doc | undefined {
    return this.#access.identity()
  }

  token(): Value | undefined {
    return this.#access.token()
  }

  isProtected(call: Call): boolean {
    return this.#access.isProtected(call)
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
