// Finds out who a request comes from. Everything is asked of the transaction's own snapshot, so a key, token,
// identity or database that is deleted stops counting with the next request. What is remembered between requests
// is only that a header's secret belongs to a stored hash; whether that hash is still stored is asked each time.

import { GenerationCache } from '../base/generation-cache.ts'
import type { Memo } from '../base/pending.ts'
import { RequestError } from '../errors.ts'
import type { Transaction, Version } from '../store/contract.ts'
import { native, type ObjectValue, Ref } from '../values/value.ts'
import {
  type Admission,
  keyCaller,
  type PredicatesOf,
  type Refusal,
  rootCaller,
  tokenCaller,
} from './admission.ts'
import { looksLikeToken, parseAuthorization } from './authorization-header.ts'
import type { Caller } from './contract.ts'
import type { IdentityProviders, VerifiedToken } from './identity-provider.ts'
import type { RootSecret } from './root-secret.ts'
import { parseScopedSecret, type Scope } from './scope.ts'
import { parseSecret } from './secret.ts'
import type { SecretVerifier } from './secret-verifier.ts'

interface IdentifierOptions {
  readonly verifier: SecretVerifier
  readonly providers: IdentityProviders
  /** Undefined when the operator has configured none. */
  readonly rootSecret: RootSecret | undefined
  /** Told why a credential was refused, in words that hold no secrets. */
  readonly log: (reason: string) => void
}

/** Headers remembered; about 300 bytes each. */
const knownHeadersMax = 20_000

/** What a header that was accepted before says. */
type Known =
  | { readonly kind: 'root'; readonly scope: Scope | null | undefined }
  | {
      readonly kind: 'document'
      /** The key or token. */
      readonly ref: Ref
      /** The stored hash that the secret was found to belong to. */
      readonly storedHash: string
      readonly scope: Scope | null | undefined
    }

export class Identifier {
  readonly #options: IdentifierOptions
  readonly #known = new GenerationCache<string, Known>(knownHeadersMax)

  constructor(options: IdentifierOptions) {
    this.#options = options
  }

  /** The caller an `authorization` header stands for. Throws `unauthorized`, or Pending while it has to wait. */
  identify(
    authorization: string | undefined,
    transaction: Transaction,
    memo: Memo,
    predicatesOf: PredicatesOf,
  ): Caller {
    const result = this.#identify(authorization, memo, { transaction, predicatesOf })
    if (!('refused' in result)) return result
    this.#options.log(result.refused)
    throw new RequestError('unauthorized', 'Unauthorized')
  }

  /**
   * What a bare secret belongs to: a live key or token, or (for a third-party token) what it says. Undefined when
   * it belongs to nothing. Throws Pending while it has to wait.
   */
  ownerOf(text: string, transaction: Transaction, memo: Memo): Version | VerifiedToken | undefined {
    if (!looksLikeToken(text)) return this.#documentOf(text, transaction, memo)
    const token = this.#options.providers.verify(text, transaction, memo)
    return 'refused' in token ? undefined : token
  }

  #identify(header: string | undefined, memo: Memo, admission: Admission): Caller | Refusal {
    if (header === undefined) return { refused: 'there is no credential' }
    const remembered = this.#known.get(header)
    if (remembered) {
      const caller = admit(remembered, admission)
      if (!('refused' in caller)) return caller
      this.#known.delete(header)
    }
    const presented = parseAuthorization(header)
    if (!presented) return { refused: 'the authorization header is malformed' }
    const { text, mayBeToken } = presented
    if (mayBeToken && looksLikeToken(text)) return this.#thirdParty(text, memo, admission)
    const known = this.#recognize(text, memo, admission.transaction)
    if (!known) return { refused: 'the secret is unknown' }
    const caller = admit(known, admission)
    if (!('refused' in caller)) this.#known.set(header, known)
    return caller
  }

  #thirdParty(text: string, memo: Memo, admission: Admission): Caller | Refusal {
    const { providers } = this.#options
    const token = providers.verify(text, admission.transaction, memo)
    return 'refused' in token ? token : providers.caller(token, admission)
  }

  #recognize(text: string, memo: Memo, transaction: Transaction): Known | undefined {
    const { secret, scope } = parseScopedSecret(text)
    const version = this.#documentOf(secret, transaction, memo)
    if (version) return { kind: 'document', ref: version.ref, storedHash: hashOf(version.fields), scope }
    const root = this.#options.rootSecret?.match(text, memo)
    return root && { kind: 'root', scope: root.scope }
  }

  #documentOf(secret: string, transaction: Transaction, memo: Memo): Version | undefined {
    const parsed = parseSecret(secret)
    if (!parsed) return undefined
    const isToken = parsed.kind === 'token'
    const texts = [parsed.random, secret]
    for (const database of isToken ? [parsed.database] : transaction.directory.keyDatabases(parsed.id)) {
      const version = transaction.get(new Ref(database, isToken ? native.tokens : native.keys, parsed.id))
      if (version && this.#options.verifier.verify(memo, database, texts, hashOf(version.fields)))
        return version
    }
    return undefined
  }
}

function hashOf(fields: ObjectValue): string {
  const stored = fields.get('hashed_secret')
  return typeof stored === 'string' ? stored : ''
}

function admit(known: Known, admission: Admission): Caller | Refusal {
  if (known.kind === 'root') return rootCaller(known.scope, admission)
  const { ref, scope } = known
  const fields = admission.transaction.get(ref)?.fields
  if (!fields || hashOf(fields) !== known.storedHash) return { refused: 'the key or token is gone' }
  return ref.collection === native.tokens
    ? tokenCaller(ref, fields, admission)
    : keyCaller(ref, fields, scope, admission)
}
