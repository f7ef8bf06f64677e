// What the query functions about credentials do: check and hash passwords, make secrets, find the owner of one,
// end sessions. Synchronous like all evaluation: what has to wait throws Pending.

import { hash } from 'node:crypto'
import type { Memo } from '../base/pending.ts'
import type { Random } from '../base/random.ts'
import type { Transaction, Version } from '../store/contract.ts'
import { encodeBase64Url } from '../values/base64.ts'
import { type DatabaseId, firstUserCollection, native, Ref, type Value } from '../values/value.ts'
import { ownKeyOf } from '../values/value-keys.ts'
import type { Caller } from './contract.ts'
import type { Identifier } from './credential.ts'
import { type Asking, refName } from './guesser.ts'
import type { VerifiedToken } from './identity-provider.ts'
import type { Passwords } from './password.ts'
import { makeKeySecret, makeTokenSecret, parseSecret, secretRandomBytes } from './secret.ts'
import type { SecretVerifier } from './secret-verifier.ts'

/** A new secret: shown once, and the hash that is stored. */
interface NewSecret {
  readonly secret: string
  readonly hashedSecret: string
}

/** Bytes of a key for proofs. */
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
   * Whether `password` is that of `instance`, which the client named by `target`: the document itself, or a set whose
   * first document it is. An unknown identity (undefined), without a document or without a password costs the same check
   * and the same reads, and is never right. Their reads are not counted: the bytes would tell who is known.
   */
  checkPassword(asking: Asking, target: Value, instance: Ref | undefined, password: string): boolean {
    const { counters } = asking.transaction
    const { readBytes } = counters
    // Both names are made for everyone, which takes as long for everyone.
    const targetName = identityName(target)
    const name = instance === undefined ? targetName : refName(instance)
    const storedHash = storedHashOf(asking, instance ?? nobodyIn(asking.caller.database))
    const isRight = this.#options.passwords.check(asking, name, password, storedHash)
    // Asked only of those who know the password, so that the size of a document is not told by the time it takes.
    const passed = isRight && instance !== undefined && asking.transaction.get(instance) !== undefined
    if (!passed) counters.readBytes = readBytes
    return passed
  }

  /** Bytes that cannot be guessed, the same when the query is replayed. */
  newKey(memo: Memo): Uint8Array {
    return memo.draw(() => this.#options.random.bytes(keyBytes))
  }

  /** The `hashed_password` to store for a password. */
  hashPassword(asking: Asking, password: string): string {
    return this.#options.passwords.hash(asking, password)
  }

  /** A secret for a key. */
  newKeySecret(memo: Memo, key: Ref): NewSecret {
    const { random, hashedSecret } = this.#newRandom(memo, key.database)
    return { secret: makeKeySecret(key.id, random), hashedSecret }
  }

  /** A secret for a token. */
  newTokenSecret(memo: Memo, token: Ref): NewSecret {
    const { random, hashedSecret } = this.#newRandom(memo, token.database)
    return { secret: makeTokenSecret(token.id, token.database, random), hashedSecret }
  }

  /** The hash to store for a secret that a client gives to a key; undefined unless it is one of exactly that key. */
  hashKeySecret(memo: Memo, key: Ref, secret: string): string | undefined {
    const parsed = parseSecret(secret)
    if (parsed?.kind !== 'key' || parsed.id !== key.id) return undefined
    const make = () => this.#options.verifier.hash(memo, key.database, parsed.random)
    return memo.getEach(`secret hash ${parsed.random}`, make)
  }

  /**
   * What a secret belongs to: a live key or token, or (for a third-party token) what it says; undefined when it
   * belongs to nothing. Whether the caller may see that is for the caller of this to ask.
   */
  ownerOf(transaction: Transaction, memo: Memo, secret: string): Version | VerifiedToken | undefined {
    return this.#options.identifier.ownerOf(secret, transaction, memo)
  }

  /**
   * Randomness and hash stay the same however often the request is evaluated; ids, which do not, are put in later. A
   * query that makes one secret after the other waits for as many at a time as it has had.
   */
  #newRandom(memo: Memo, database: DatabaseId): { random: Uint8Array; hashedSecret: string } {
    const { random, verifier } = this.#options
    return memo.getEachAhead('new secret', async () => {
      const bytes = random.bytes(secretRandomBytes)
      return { random: bytes, hashedSecret: await verifier.hash(memo, database, encodeBase64Url(bytes)) }
    })
  }
}

/** The password hash of a document, whether or not that is still there. Everyone costs the same searches and a read. */
function storedHashOf(asking: Asking, instance: Ref): string | undefined {
  const { transaction } = asking
  const credentials = transaction.directory.credentialOf(instance)
  const standIn = evenOut(asking, credentials !== undefined)
  if (standIn) transaction.get(standIn)
  const hashed = credentials?.fields.get('hashed_password')
  return typeof hashed === 'string' ? hashed : undefined
}

/**
 * Makes up for what a search has found: after one that found nothing, one that finds the caller's key or token, which
 * is about as long as credentials and is returned; after one that found something, one that finds nothing. (The root
 * secret has no document, and may read who is known anyway.)
 */
export function evenOut({ caller, transaction }: Asking, found: boolean): Ref | undefined {
  const { credential, database } = caller
  if (found) transaction.directory.credentialOf(nobodyIn(database))
  if (found || !(credential instanceof Ref)) return undefined
  const from = { values: [], document: credential, side: 'low' } as const
  for (const { document } of transaction.documents(credential.database, credential.collection, { from }))
    return document
  return undefined
}

/** A document that cannot exist: ids begin at 0, but no user collection has that number. */
function nobodyIn(database: DatabaseId): Ref {
  return new Ref(database, firstUserCollection - 1, 0n)
}

/**
 * What failures are counted under: the document, or the set that should have held it, so that the unknown are slowed
 * down like the known.
 */
function identityName(target: Value): string {
  if (target instanceof Ref) return refName(target)
  return hash('sha256', ownKeyOf(target))
}

/**
 * Ends the caller's session (`all` false: only a token can) or all sessions of its identity. False when there is
 * nothing to end: keys, third-party tokens and the root secret have no sessions.
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
