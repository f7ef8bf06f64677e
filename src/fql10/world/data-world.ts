// Implements `World` (call.ts), the interface for the data access of a query, with a session.

import { createHmac } from 'node:crypto'
import { catchError } from '../../base/catch-error.ts'
import { GenerationCache } from '../../base/generation-cache.ts'
import { msg } from '../../base/message.ts'
import { Failure } from '../../model/failure.ts'
import { mayOnDocument } from '../../model/permissions.ts'
import { isProtected, isTypechecked } from '../../model/resources/databases.ts'
import { createToken } from '../../model/resources/secrets.ts'
import { textIn } from '../../model/schema/definition-parts.ts'
import type { Session } from '../../model/session.ts'
import { Reading } from '../../model/sets/reading.ts'
import { compareBytes } from '../../values/order.ts'
import { timeFromMicros } from '../../values/time.ts'
import {
  type DatabaseId,
  DocumentValue,
  isObject,
  type Micros,
  native,
  type ObjectValue,
  Ref,
  refKey,
  type Value as StoredValue,
  sameRef,
  type Time,
} from '../../values/value.ts'
import type { AccessReader, BoundCall, Call, SetReader, TokenSealing, World, Writer } from '../call.ts'
import { nativeModule } from '../library/natives.ts'
import type { SetItem, SetPlace } from '../sets/items.ts'
import type { TokenSet } from '../sets/token-set.ts'
import { Doc, type UserFunction, type Value } from '../value.ts'
import { DocumentReader } from './documents-read.ts'
import { QueryDocumentWriter } from './documents-write.ts'
import { Names } from './query-names.ts'
import { StoredSetReader } from './stored-sets.ts'
import { runtimeOf } from './stored-values.ts'
import { callUser } from './user-functions.ts'
import { permissionDenied, writeFailure } from './write-failures.ts'

/** Reads the caller's identity, credentials and tokens, and creates tokens. */
class AccessDocuments implements AccessReader {
  readonly #session: Session
  readonly #reader: DocumentReader

  constructor(session: Session, reader: DocumentReader) {
    this.#session = session
    this.#reader = reader
  }

  /** If the document has no credential, the result refers to a document that never existed. */
  credentialOf({ ref }: Doc): Doc {
    const { database, transaction } = this.#session
    const found = transaction.directory.credentialOf(ref)?.ref ?? new Ref(database, native.credentials, -1n)
    return new Doc(found, nativeModule(native.credentials))
  }

  *tokensOf(
    { options: { at, document, isReversed } }: TokenSet,
    from: SetPlace | undefined,
    call: Call,
  ): Generator<SetItem, void, void> {
    const session = this.#session
    const scan = { reverse: isReversed, ...(typeof from === 'bigint' && { from }) }
    const found = session.transaction.directory.tokensOf(document, scan)
    const visible = ({ ref }: { readonly ref: Ref }) =>
      mayOnDocument('read', ref, session) ? ref : undefined
    const reading = new Reading(session, undefined)
    session.callSite = call
    try {
      for (const token of reading.measured(`tokens of ${refKey(document)}`, 1, found, visible)) {
        yield { kind: 'element', value: () => this.#reader.reference(token, at), place: () => token.id }
        // The code that received the element may have changed the call site.
        session.callSite = call
      }
    } finally {
      reading.finish('page')
    }
  }

  verify(credential: Doc, password: string): boolean {
    const instance = this.#instanceOf(credential)
    if (instance === undefined) return false
    return this.#session.host.logins.checkPassword(this.#session, instance, instance, password)
  }

  login(credential: Doc, password: string, ttl: Time | undefined, call: Call): Doc {
    const instance = this.#instanceOf(credential)
    if (instance === undefined || !this.verify(credential, password)) {
      throw call.failure('invalid_secret', msg`Provided secret did not match.`)
    }
    const session = this.#session
    const params: ObjectValue = ttl === undefined ? new Map() : new Map([['ttl', ttl]])
    const tokens = new Ref(session.database, native.collections, BigInt(native.tokens))
    const fields = () => new Map<string, StoredValue>([['instance', instance], ...params])
    const request = { action: 'create', resource: tokens, argument: fields } as const
    if (!session.with({ callSite: call }, () => session.access.allows(request))) throw permissionDenied(call)
    const create = () => createToken(instance, params, session)
    const made = catchError(Failure, create, failure => {
      const target = { action: 'create', collection: 'Token', ref: undefined, name: undefined } as const
      throw writeFailure(failure, target, call)
    })
    const secret = made.fields.get('secret')
    return new Doc(made.ref, nativeModule(native.tokens), {
      ...(typeof secret === 'string' && { shown: new Map([['secret', secret]]) }),
    })
  }

  #instanceOf({ ref }: Doc): Ref | undefined {
    const instance = this.#session.transaction.get(ref)?.fields.get('instance')
    return instance instanceof Ref ? instance : undefined
  }

  identity(): Doc | undefined {
    const { identity } = this.#session.caller
    return identity instanceof Ref ? this.#reader.reference(identity) : undefined
  }

  token(): Value | undefined {
    const { credential } = this.#session.caller
    if (credential === undefined) return undefined
    if (credential instanceof Ref) {
      return credential.collection === native.tokens ? this.#reader.reference(credential) : undefined
    }
    return isObject(credential) ? runtimeOf(credential, ref => this.#reader.document(ref)) : undefined
  }

  isProtected(call: Call): boolean {
    const { authority, database } = this.#session
    if (authority.kind !== 'builtin' || authority.role !== 'admin') throw permissionDenied(call)
    return isProtected(database, this.#session)
  }

  isTypechecked(): boolean {
    return isTypechecked(this.#session.database, this.#session)
  }
}

class QuerySealing implements TokenSealing {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  get database(): DatabaseId {
    return this.#session.database
  }

  resultTime(): Micros {
    return this.#session.transaction.resultTime()
  }

  writeTime(): Micros | undefined {
    const { transaction } = this.#session
    return transaction.writes === 0 ? undefined : transaction.resultTime()
  }

  get cursorKey(): Uint8Array {
    return sealingKey(`cursors of ${this.#session.database}`, this.#session)
  }

  get sourceKey(): Uint8Array {
    return sealingKey('event sources', this.#session)
  }
}

export class DataWorld implements World {
  readonly names: Names
  readonly documents: DocumentReader
  readonly sets: SetReader
  readonly access: AccessReader
  readonly sealing: TokenSealing
  readonly #session: Session
  #writer: QueryDocumentWriter | undefined

  constructor(session: Session) {
    this.#session = session
    this.names = new Names(session)
    this.documents = new DocumentReader(session, this.names)
    this.sets = new StoredSetReader(session, this.documents)
    this.access = new AccessDocuments(session, this.documents)
    this.sealing = new QuerySealing(session)
  }

  get writer(): Writer {
    this.#writer ??= new QueryDocumentWriter(this.#session, this.names, this.documents)
    return this.#writer
  }

  /** Runs the checks that need all writes of the query. Throws QueryFailures. */
  finish(): void {
    this.#writer?.finish()
  }

  /** True if the query has written collections, functions, roles or access providers. */
  get changesSchema(): boolean {
    return this.#writer?.changesSchema === true
  }

  callUser(callee: UserFunction, args: readonly Value[], call: Call): Value | BoundCall {
    return callUser(callee, args, call, this.#session, this.documents)
  }

  /** `readAt`: the time at which referenced documents are read. */
  runtime(stored: StoredValue, readAt?: number): Value {
    return runtimeOf(stored, ref => this.documents.document(ref, readAt))
  }

  /**
   * Returns the argument of a predicate. In a write, the argument is the version of a document before or after the
   * write, which is not read from the store.
   */
  version(given: StoredValue): Value {
    const found = this.#session.indexMatch
    if (given instanceof Ref && found !== undefined && sameRef(given, found.document)) {
      // Only hints show the name of the index, and predicates get no hints.
      return this.documents.reference(given, undefined, { name: '', covered: found.covered })
    }
    if (!(given instanceof DocumentValue)) return this.runtime(given)
    const { fields, ref, ts } = given
    const { collection, name: before } = this.documents.reference(ref)
    const time = typeof ts === 'number' ? timeFromMicros(ts) : ts
    const name = before === undefined ? undefined : (textIn(fields, 'name') ?? before)
    return new Doc(ref, collection, { name, state: { ts: time, fields } })
  }
}

/** Maximum number of cached keys. */
const cachedKeysMax = 1000

/** Each entry contains the secret that its key was derived from, because a process may open several stores. */
const cache = new GenerationCache<string, { readonly secret: Uint8Array; readonly key: Uint8Array }>(
  cachedKeysMax,
)

/**
 * Derives a key from the secret of the store, to authenticate data that clients store, such as cursors. If the store has
 * no secret yet, creates it, or throws WriteNeeded in a read-only query.
 */
function sealingKey(purpose: string, { host, memo, transaction }: Session): Uint8Array {
  const secret = transaction.secretKey(() => host.logins.newKey(memo))
  const known = cache.get(purpose)
  if (known !== undefined && compareBytes(known.secret, secret) === 0) return known.key
  const key = createHmac('sha256', secret).update(purpose).digest()
  cache.set(purpose, { secret, key })
  return key
}
