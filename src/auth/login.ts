// What the query functions about credentials do: check and hash passwords, make secrets, find the owner of one,
// end sessions. Synchronous like all evaluation: what has to wait throws Pending.

import { hash } from 'node:crypto'
import type { Answers } from '../base/pending.ts'
import type { Random } from '../base/random.ts'
import type { Transaction, Version } from '../store/contract.ts'
import { type DatabaseId, native, Ref, type SetLike } from '../values/value.ts'
import type { Caller } from './contract.ts'
import type { Identifier } from './credential.ts'
import type { VerifiedToken } from './identity-provider.ts'
import { occurrence } from './occurrence.ts'
import type { Passwords } from './password.ts'
import { makeKeySecret, makeTokenSecret, parseSecret, randomText, secretRandomBytes } from './secret.ts'
import type { SecretVerifier } from './secret-verifier.ts'

/** A new secret: shown once, and the hash that is stored. */
export interface NewSecret {
  readonly secret: string
  readonly hashedSecret: string
}

export interface LoginOptions {
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
   * Whether `password` is that of a document. A document that does not exist or has no password costs the same
   * check and is never right. Where a set had no document, pass the set.
   */
  checkPassword(transaction: Transaction, answers: Answers, instance: SetLike, password: string): boolean {
    const live = instance instanceof Ref && transaction.get(instance) ? instance : undefined
    const hashed = live && transaction.credentialOf(live)?.fields.get('hashed_password')
    const storedHash = typeof hashed === 'string' ? hashed : undefined
    return this.#options.passwords.check(transaction, answers, identityName(instance), password, storedHash)
  }

  /** The `hashed_password` to store for a password. */
  hashPassword(transaction: Transaction, answers: Answers, password: string): string {
    return this.#options.passwords.hash(transaction, answers, password)
  }

  /** A secret for the key with that id. */
  newKeySecret(transaction: Transaction, answers: Answers, id: bigint): NewSecret {
    const { random, hashedSecret } = this.#newRandom(transaction, answers)
    return { secret: makeKeySecret(id, random), hashedSecret }
  }

  /** A secret for the token with that id in that database. */
  newTokenSecret(transaction: Transaction, answers: Answers, database: DatabaseId, id: bigint): NewSecret {
    const { random, hashedSecret } = this.#newRandom(transaction, answers)
    return { secret: makeTokenSecret(id, database, random), hashedSecret }
  }

  /** The hash to store for a secret that a client gives to a key; undefined unless it is one of exactly that key. */
  hashKeySecret(transaction: Transaction, answers: Answers, id: bigint, secret: string): string | undefined {
    const parsed = parseSecret(secret)
    if (parsed?.kind !== 'key' || parsed.id !== id) return undefined
    const make = () => this.#options.verifier.hash(parsed.random)
    return answers.get(occurrence(transaction, `secret hash ${parsed.random}`), make)
  }

  /**
   * What a secret belongs to: a live key or token, or (for a third-party token) what it says; undefined when it
   * belongs to nothing. Whether the caller may see that is for the caller of this to ask.
   */
  ownerOf(transaction: Transaction, answers: Answers, secret: string): Version | VerifiedToken | undefined {
    return this.#options.identifier.ownerOf(secret, transaction, answers)
  }

  /** Chance and hash stay the same however often the request is evaluated; ids, which do not, are put in later. */
  #newRandom(transaction: Transaction, answers: Answers): { random: Uint8Array; hashedSecret: string } {
    return answers.get(occurrence(transaction, 'new secret'), async () => {
      const random = this.#options.random.bytes(secretRandomBytes)
      return { random, hashedSecret: await this.#options.verifier.hash(randomText(random)) }
    })
  }
}

/**
 * What failures are counted under: the document, or the set that should have held it, so that the unknown are slowed
 * down like the known.
 */
function identityName(instance: SetLike): string {
  if (instance instanceof Ref) return `${instance.database}/${instance.collection}/${instance.id}`
  const printed = JSON.stringify(instance.shape, (_, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`
    return value instanceof Map ? [...value] : value
  })
  return hash('sha256', printed)
}

/**
 * Ends the caller's session (`all` false: only a token can) or all sessions of its identity. False when there is
 * nothing to end: keys, third-party tokens and the root secret have no sessions.
 */
export function logOut(transaction: Transaction, caller: Caller, all: boolean): boolean {
  if (all) {
    if (!(caller.identity instanceof Ref)) return false
    for (const { ref } of transaction.tokensOf(caller.identity)) transaction.delete(ref)
    return true
  }
  const token = caller.credential
  if (!(token instanceof Ref) || token.collection !== native.tokens) return false
  if (transaction.get(token)) transaction.delete(token)
  return true
}
