// Implements the query functions for passwords and tokens. The operations are synchronous, and throw Pending while an
// asynchronous result is not available.

import { hash } from 'node:crypto'
import type { Memo } from '../../base/pending.ts'
import type { Random } from '../../base/random.ts'
import type { Transaction, Version } from '../../storage/store/store-contract.ts'
import { encodeBase64Url } from '../../values/base64.ts'
import { type DatabaseId, firstUserCollection, native, Ref, refKey, type Value } from '../../values/value.ts'
import { fullKeyOf } from '../../values/value-keys.ts'
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
import type { PasswordRequest } from './throttle.ts'

/** Only the hash is stored. The response to the creation is the only response that contains the secret. */
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
   * Returns whether `password` is the password of the document `instance`. `target` is the argument in the query: the
   * document, or a set whose first document is `instance`. Returns false if `instance` is undefined, does not exist or
   * has no password. All cases run the same check and similar reads, so that the time is the same. The reads of a
   * failed check are not counted, because the number of bytes would reveal which users exist.
   */
  checkPassword(
    request: PasswordRequest,
    target: Value,
    instance: Ref | undefined,
    password: string,
  ): boolean {
    const { counters } = request.transaction
    const { readBytes } = counters
    // Always computed, so the time does not depend on `instance`.
    const targetName = nameOfTarget(target)
    const name = instance === undefined ? targetName : refKey(instance)
    const storedHash = storedHashOf(request, instance ?? nonexistentDocument(request.caller.database))
    const isRight = this.#options.passwords.check(request, name, password, storedHash)
    // The document is read only if the password is right, so the time does not reveal its size.
    const passed = isRight && instance !== undefined && request.transaction.get(instance) !== undefined
    if (!passed) counters.readBytes = readBytes
    return passed
  }

  /** Random bytes for a new secret of the store. A replay of the query gets the same bytes. */
  newKey(memo: Memo): Uint8Array {
    return memo.draw(() => this.#options.random.bytes(keyBytes))
  }

  hashPassword(request: PasswordRequest, password: string): string {
    return this.#options.passwords.hash(request, password)
  }

  newKeySecret(memo: Memo, key: Ref): NewSecret {
    const { random, hashedSecret } = this.#newRandom(memo, key.database)
    return { secret: makeKeySecret(key.id, random), hashedSecret }
  }

  newTokenSecret(memo: Memo, token: Ref): NewSecret {
    const { random, hashedSecret } = this.#newRandom(memo, token.database)
    return { secret: makeTokenSecret(token.id, token.database, random), hashedSecret }
  }

  /**
   * The hash for a secret that a client assigns to `key`. Returns undefined if the secret is invalid or was created for
   * another key.
   */
  hashKeySecret(memo: Memo, key: Ref, secret: string): string | undefined {
    const parsed = parseSecret(secret)
    if (parsed?.kind !== 'key' || parsed.id !== key.id) return undefined
    const make = () => this.#options.verifier.hash(memo, key.database, parsed.random)
    return memo.getEach(`secret hash ${parsed.random}`, make)
  }

  /** A key or token, or a verified third-party token. Does not check whether the caller may read the owner. */
  ownerOf(transaction: Transaction, memo: Memo, secret: string): Version | VerifiedToken | undefined {
    return this.#options.identifier.ownerOf(secret, transaction, memo)
  }

  /**
   * Random bytes and their hash. A replay of the query gets the same bytes and hash. The replay may get different ids,
   * so the bytes do not contain the id of the key or token. If a query creates many secrets, they are prepared in
   * batches of increasing size.
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
 * Returns undefined if the document does not exist or has no password. The number of searches and reads is the same in
 * all cases.
 */
function storedHashOf(request: PasswordRequest, instance: Ref): string | undefined {
  const { transaction } = request
  const credentials = transaction.directory.credentialOf(instance)
  equalizeReads(request, credentials !== undefined)
  const hashed = credentials?.fields.get('hashed_password')
  return typeof hashed === 'string' ? hashed : undefined
}

/**
 * Makes a search for credentials take the same time with and without a result. If credentials were found, runs an
 * additional search without a result. Otherwise, finds and reads the caller's key or token, which is about as large as
 * credentials. The root secret has no document, so this function cannot equalize requests with it. These requests do
 * not need the protection, because they may read all users.
 */
export function equalizeReads({ caller, transaction }: PasswordRequest, found: boolean): void {
  const { credential, database } = caller
  if (found) {
    transaction.directory.credentialOf(nonexistentDocument(database))
  } else if (credential instanceof Ref) {
    const from = { values: [], document: credential, side: 'low' } as const
    const [stored] = transaction.documents(credential.database, credential.collection, { from })
    if (stored) transaction.get(stored.document)
  }
}

/** No collection has this number. */
function nonexistentDocument(database: DatabaseId): Ref {
  return new Ref(database, firstUserCollection - 1, 0n)
}

/**
 * Failed checks of a target without a document are counted under this name, so guesses are slowed down even if they
 * find no user.
 */
function nameOfTarget(target: Value): string {
  if (target instanceof Ref) return refKey(target)
  return hash('sha256', fullKeyOf(target))
}

/**
 * Deletes the caller's token, or all tokens of the caller's identity with `all`. Returns false if there is no token or
 * no identity.
 */
export function logOut(transaction: Transaction, caller: Caller, all: boolean): boolean {
  if (all) {
    if (!(caller.identity instanceof Ref)) return false
    transaction.deleteTokens(caller.identity)
    return true
  }
  const token = caller.credential
  if (!(token instanceof Ref) || token.collection !== native.tokens) return false
  if (transaction.get(token)) transaction.delete(token)
  return true
}
