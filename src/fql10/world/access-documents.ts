// Implements `AccessReader` over a session: the caller's identity, credentials, tokens and logins.

import { msg } from '../../base/message.ts'
import { Failure } from '../../model/failure.ts'
import { mayOnDocument } from '../../model/permissions.ts'
import { isProtected } from '../../model/resources/databases.ts'
import type { Session } from '../../model/session.ts'
import { createToken } from '../../model/tokens.ts'
import {
  isObject,
  native,
  type ObjectValue,
  Ref,
  type Value as StoredValue,
  type Time,
} from '../../values/value.ts'
import type { AccessReader, Call } from '../call.ts'
import { nativeModule } from '../library/natives.ts'
import { ArraySet } from '../sets/sources.ts'
import { Doc, type SetValue, type Value } from '../value.ts'
import type { DocumentReader } from './documents-read.ts'
import { runtimeOf } from './stored-values.ts'
import { permissionDenied, writeFailure } from './write-failures.ts'

/** Reads and creates credentials and tokens for one query. */
export class AccessDocuments implements AccessReader {
  readonly #session: Session
  readonly #reader: DocumentReader

  constructor(session: Session, reader: DocumentReader) {
    this.#session = session
    this.#reader = reader
  }

  /** The credential of a document. Without a credential, the result is a reference to a document that never existed. */
  credentialOf({ ref }: Doc): Doc {
    const { database, transaction } = this.#session
    const found = transaction.directory.credentialOf(ref)?.ref ?? new Ref(database, native.credentials, -1n)
    return new Doc(found, nativeModule(native.credentials))
  }

  tokensOf({ ref }: Doc, call: Call): SetValue {
    const tokens = this.#session.transaction.directory
      .tokensOf(ref)
      .map(token => token.ref)
      .filter(token => mayOnDocument('read', token, this.#session))
      .sort((left, right) => (left.id < right.id ? -1 : 1))
    return new ArraySet(tokens.map(token => this.#reader.reference(token, call.at)))
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
    const request = { action: 'create', resource: tokens, argument: fields, callSite: call } as const
    if (!session.access.allows(request)) throw permissionDenied(call)
    try {
      const made = createToken(instance, params, session)
      const secret = made.fields.get('secret')
      return new Doc(made.ref, nativeModule(native.tokens), {
        ...(typeof secret === 'string' && { shown: new Map([['secret', secret]]) }),
      })
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      throw writeFailure(
        error,
        { action: 'create', collection: 'Token', ref: undefined, name: undefined },
        call,
      )
    }
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
}
