// Resolves the names and aliases of user collections and functions. Objects that the query creates cannot be found by
// the same query. Objects that the query renames or deletes can also be found by their old names until the query ends.

import { msg } from '../../base/message.ts'
import { upsert } from '../../base/upsert.ts'
import { aliasesOf } from '../../model/auth/resource-names.ts'
import { textIn } from '../../model/schema/definition-parts.ts'
import type { Session } from '../../model/session.ts'
import { codeOf } from '../../values/code.ts'
import { native, type Ref } from '../../values/value.ts'
import { type Arity, arityOfLambda } from '../arity.ts'
import type { Call, NameReader } from '../call.ts'
import { nativeModule } from '../library/natives.ts'
import { Doc, type Module, type UserCollection, UserFunction } from '../value.ts'
import { bodyOf } from './bodies.ts'
import { schemaPartsOf } from './schema-parts.ts'

type Kind = 'collection' | 'function'

const numberOf = { collection: native.collections, function: native.functions } as const

export class Names implements NameReader {
  readonly #session: Session
  readonly #known = new Map<string, Ref | undefined>()
  readonly #modules = new Map<string, UserCollection>()
  readonly #functions = new Map<string, UserFunction>()
  /** Schema objects that this query has created. */
  readonly #created = new Set<string>()
  /** The names of the collections that this query has deleted, by the ids of their definitions. */
  readonly deleted = new Map<bigint, string | undefined>()

  constructor(session: Session) {
    this.#session = session
  }

  /** Keeps the names of a collection or function valid until the query ends. Call this before a write to `ref`. */
  keep(ref: Ref): void {
    const kind = (['collection', 'function'] as const).find(each => numberOf[each] === ref.collection)
    if (kind === undefined) return
    const fields = this.#session.transaction.get(ref)?.fields
    for (const key of ['name', 'alias']) {
      const name = textIn(fields, key)
      if (name !== undefined) this.#find(kind, name)
    }
  }

  /** Records a new schema object, whose name is not visible to this query. */
  noteCreated(ref: Ref): void {
    this.#created.add(`${ref.collection}/${ref.id}`)
  }

  #isCreated(ref: Ref | undefined): boolean {
    return ref !== undefined && this.#created.has(`${ref.collection}/${ref.id}`)
  }

  /** Finds a user collection or function by its name or alias. */
  #find(kind: Kind, name: string): Ref | undefined {
    if (!this.#session.transaction.writable) return this.#resolve(kind, name)
    const key = `${kind} ${name}`
    if (this.#known.has(key)) return this.#known.get(key)
    const ref = this.#resolve(kind, name)
    const found = this.#isCreated(ref) ? undefined : ref
    this.#known.set(key, found)
    return found
  }

  #resolve(kind: Kind, name: string): Ref | undefined {
    const { database, named, transaction } = this.#session
    const ref =
      transaction.catalogue.resolve(database, numberOf[kind], name) ??
      aliasesOf(database, numberOf[kind], transaction).get(name)
    if (ref !== undefined) named.note(kind, name)
    return ref
  }

  global(name: string): UserCollection | UserFunction | undefined {
    return this.#collection(name) ?? this.#function(name)
  }

  collection(name: string, call: Call): Module {
    const found = this.#collection(name)
    if (found !== undefined) return found
    throw this.#unknown('collection', name, call)
  }

  userFunction(name: string, call: Call): UserFunction {
    const found = this.#function(name)
    if (found !== undefined) return found
    throw this.#unknown('function', name, call)
  }

  definitionOf(name: string): Doc | undefined {
    return this.global(name)?.definition
  }

  /** If this query has created the object, the error contains a hint. */
  #unknown(kind: Kind, name: string, call: Call) {
    const { database, transaction } = this.#session
    const message = msg`invalid argument \`${kind}\`: No such user ${kind} \`${name}\`.`
    const hint = `A ${kind} cannot be created and used in the same query.`
    const isCreated = this.#isCreated(transaction.catalogue.resolve(database, numberOf[kind], name))
    return call.failure(
      'invalid_argument',
      message,
      isCreated ? [{ name: 'hint', message: hint, span: call.span }] : [],
    )
  }

  #collection(name: string): UserCollection | undefined {
    const ref = this.#find('collection', name)
    return ref && this.moduleOf(ref, name)
  }

  /** Returns undefined if the name of the collection is unknown. `as`: the name in the query. */
  moduleOf(ref: Ref, as?: string): UserCollection | undefined {
    const { transaction } = this.#session
    const name = transaction.catalogue.collection(ref)?.name ?? as ?? this.deleted.get(ref.id)
    if (name === undefined) return undefined
    const module = () => schemaPartsOf(ref, this.#session).module(name, as ?? name)
    return transaction.writable ? upsert(this.#modules, `${ref.id} ${as ?? name}`, module) : module()
  }

  #function(name: string): UserFunction | undefined {
    const known = this.#functions.get(name)
    if (known !== undefined) return known
    const ref = this.#find('function', name)
    const fields = ref && this.#session.transaction.get(ref)?.fields
    if (ref === undefined || fields === undefined) return undefined
    const title = textIn(fields, 'name') ?? name
    const definition = new Doc(ref, nativeModule(native.functions), { name: title })
    const found = new UserFunction(name, definition, this.#arityOf(fields.get('body')))
    this.#functions.set(name, found)
    return found
  }

  #arityOf(stored: Parameters<typeof codeOf>[0]): Arity {
    const code = codeOf(stored)
    if (code?.language === '10') {
      return arityOfLambda(bodyOf(code.source, '*body*').node)
    }
    return { counts: [code === undefined ? 0 : this.#session.propertiesOfCode(code).parameters], open: false }
  }
}
