// The operations of query functions about credentials: check and hash passwords, create secrets, find the owner of a
// secret, and end sessions. Like all evaluation, the operations are synchronous. They throw Pending when they have to
// wait.

import { hash } from 'node:crypto'
import type { Memo } from '../../base/pending.ts'
import type { Random } from '../../base/random.ts'
import type { Transaction, Version } from '../../storage/store/store-contract.ts'
import { encodeBase64Url } from '../../values/base64.ts'
import { type DatabaseId, firstUserCollection, native, Ref, type Value } from '../../values/value.ts'
import { ownKeyOf } from '../../values/value-keys.ts'
import type { Caller } from './access-contract.ts'
import type { Identifier } from './credential.ts'
import type { VerifiedToken } from './identity-provider.ts'
import type { Passwords } from './password.ts'
import {
  makeKeySecret,
  makeTokenSecret,
  parseSecret,
  type SecretVerifier,
  secretRandomBytes,
} from './secret.ts'
import { type PasswordRequest, refName } from './throttle.ts'

/** A new secret and its hash. The secret is returned to the client once, and only the hash is stored. */
interface NewSecret {
  readonly secret: string
  readonly hashedSecret: string
}

/** The length, in bytes, of the results of {@link Logins.newKey}. */
const keyBytes = 32

interface LoginOptions {
  readonly passwords: Passwords
  readonly verifier: SecretVerifier
  readonly identifier: Identifier
  readonly random: Random
}

export class Logins {
  readonly #options: LoginOptions

  constructor(options: LoginOptions) {
    this.#options = options
  }

  /**
   * Returns whether `password` is the password of `instance`. The client names the identity by `target`: the document
   * itself, or a set whose first document is the instance. Returns false if `instance` is undefined, or if it has no
   * document or no password. All these cases make the same check and the same reads. The reads of a failed check are
   * not counted, because the number of bytes would reveal which identities exist.
   */
  checkPassword(
    asking: PasswordRequest,
    target: Value,
    instance: Ref | undefined,
    password: string,
  ): boolean {
    const { counters } = asking.transaction
    const { readBytes } = counters
    // Both names are computed in every case, so that the time does not depend on whether the identity exists.
    const targetName = identityName(target)
    const name = instance === undefined ? targetName : refName(instance)
    const storedHash = storedHashOf(asking, instance ?? nonexistentDocument(asking.caller.database))
    const isRight = this.#options.passwords.check(asking, name, password, storedHash)
    // The document is read only when the password is right, so that the time does not reveal the size of the document.
    const passed = isRight && instance !== undefined && asking.transaction.get(instance) !== undefined
    if (!passed) counters.readBytes = readBytes
    return passed
  }

  /** Returns unpredictable bytes that stay the same when the query is replayed. */
  newKey(memo: Memo): Uint8Array {
    return memo.draw(() => this.#options.random.bytes(keyBytes))
  }

  /** Returns the `hashed_password` to store for a password. */
  hashPassword(asking: PasswordRequest, password: string): string {
    return this.#options.passwords.hash(asking, password)
  }

  /** Creates a secret for a key. */
  newKeySecret(memo: Memo, key: Ref): NewSecret {
    const { random, hashedSecret } = this.#newRandom(memo, key.database)
    return { secret: makeKeySecret(key.id, random), hashedSecret }
  }

  /** Creates a secret for a token. */
  newTokenSecret(memo: Memo, token: Ref): NewSecret {
    const { random, hashedSecret } = this.#newRandom(memo, token.database)
    return { secret: makeTokenSecret(token.id, token.database, random), hashedSecret }
  }

  /**
   * Returns the hash to store for a secret that a client assigns to `key`; undefined if the secret belongs to another
   * key or is invalid.
   */
  hashKeySecret(memo: Memo, key: Ref, secret: string): string | undefined {
    const parsed = parseSecret(secret)
    if (parsed?.kind !== 'key' || parsed.id !== key.id) return undefined
    const make = () => this.#options.verifier.hash(memo, key.database, parsed.random)
    return memo.getEach(`secret hash ${parsed.random}`, make)
  }

  /**
   * Returns the owner of a secret: a live key or token, or the content of a third-party token. Returns undefined if
   * there is no owner. The calling function must check whether the caller may see the owner.
   */
  ownerOf(transaction: Transaction, memo: Memo, secret: string): Version | VerifiedToken | undefined {
    return this.#options.identifier.ownerOf(secret, transaction, memo)
  }

  /**
   * Returns random bytes and the hash of these bytes. A replay of the request gets the same bytes and hash. A replay
   * may get other ids, so the caller of this method inserts the id. If a query creates many secrets, each wait prepares
   * as many secrets as the query has already created.
   */
  #newRandom(memo: Memo, database: DatabaseId): { random: Uint8Array; hashedSecret: string } {
    const { random, verifier } = this.#options
    return memo.getEachAhead('new secret', async () => {
      const bytes = random.bytes(secretRandomBytes)
      return { random: bytes, hashedSecret: await verifier.hash(memo, database, encodeBase64Url(bytes)) }
    })
  }
}

/**
 * Returns the password hash of a document, whether or not the document exists. Every call makes the same searches and
 * one read.
 */
function storedHashOf(asking: PasswordRequest, instance: Ref): string | undefined {
  const { transaction } = asking
  const credentials = transaction.directory.credentialOf(instance)
  const standIn = equalizeReads(asking, credentials !== undefined)
  if (standIn) transaction.get(standIn)
  const hashed = credentials?.fields.get('hashed_password')
  return typeof hashed === 'string' ? hashed : undefined
}

/**
 * Makes a search for credentials cost the same with and without a result. If nothing was found, this function finds and
 * returns the caller's key or token, which is about as large as credentials. If credentials were found, this function
 * makes a search that finds nothing. The root secret has no document, so requests with the root secret have different
 * costs. But such requests may read all identities anyway.
 */
export function equalizeReads({ caller, transaction }: PasswordRequest, found: boolean): Ref | undefined {
  const { credential, database } = caller
  if (found) transaction.directory.credentialOf(nonexistentDocument(database))
  if (found || !(credential instanceof Ref)) return undefined
  const from = { values: [], document: credential, side: 'low' } as const
  for (const { document } of transaction.documents(credential.database, credential.collection, { from }))
    return document
  return undefined
}

/** Returns a reference to a document that never exists, because no user collection has this number. */
function nonexistentDocument(database: DatabaseId): Ref {
  return new Ref(database, firstUserCollection - 1, 0n)
}

/**
 * Returns the name under which failed checks are counted. This is the name of the target document, or the name of the
 * target set if the set is empty. Therefore guesses at unknown users are slowed down as well.
 */
function identityName(target: Value): string {
  if (target instanceof Ref) return refName(target)
  return hash('sha256', ownKeyOf(target))
}

/**
 * If `all` is true, ends all sessions of the caller's identity. Otherwise ends the session of the caller's token.
 * Returns false if the caller has no session. Keys, third-party tokens and the root secret have no sessions.
 */
export function logOut(transaction: Transaction, caller: Caller, all: boolean): boolean {
  if (all) {
    if (!(caller.identity instanceof Ref)) return false
    for (const { ref } of transaction.directory.tokensOf(caller.identity)) transaction.delete(ref)
    return true
  }
  const token = caller.credential
  if (!(token instanceof Ref) || token.collection !== native.tokens) return false
  if (transaction.get(token)) transaction.delete(token)
  return true
}
