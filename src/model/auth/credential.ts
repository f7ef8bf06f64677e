// Identifies the caller of a request. All documents are read from the snapshot of the request's transaction, so the
// deletion of a key, token, identity or database applies to the next request. For each recent header, a cache contains
// the stored hash that the secret in the header has matched. Each request compares it with the current stored hash.

import { GenerationCache } from '../../base/generation-cache.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import type { Memo } from '../../base/pending.ts'
import { RequestError } from '../../base/request-errors.ts'
import type { ReadTransaction, Version } from '../../storage/store/store-contract.ts'
import { decodeBase64 } from '../../values/base64.ts'
import { native, type ObjectValue, Ref } from '../../values/value.ts'
import type { Caller } from './access-contract.ts'
import {
  type Admission,
  keyCaller,
  type PredicatesOf,
  type Rejection,
  rootCaller,
  tokenCaller,
} from './admission.ts'
import type { IdentityProviders, VerifiedToken } from './identity-provider.ts'
import { parseScopedSecret, type Scope } from './scope.ts'
import { parseSecret, type RootSecret, type SecretVerifier } from './secret.ts'

interface IdentifierOptions {
  readonly verifier: SecretVerifier
  readonly providers: IdentityProviders
  /** Undefined if the operator has configured no root secret. */
  readonly rootSecret: RootSecret | undefined
  /** Called with the reason when a credential is rejected. The reason contains no secrets. */
  readonly log: (reason: string) => void
}

/** Each entry takes about 300 bytes. */
const knownHeadersMax = 20_000

/** The credential of a header that an earlier request sent. */
type CachedCredential =
  | { readonly kind: 'root'; readonly scope: Scope | null | undefined }
  | {
      readonly kind: 'document'
      readonly ref: Ref
      /** The secret has matched this hash. */
      readonly storedHash: string
      readonly scope: Scope | null | undefined
    }

export class Identifier {
  readonly #options: IdentifierOptions
  readonly #known = new GenerationCache<string, CachedCredential>(knownHeadersMax)

  constructor(options: IdentifierOptions) {
    this.#options = options
  }

  /**
   * Identifies by the `authorization` header. Throws `unauthorized` for an invalid credential, and Pending while a
   * check is running.
   */
  identify(
    authorization: string | undefined,
    transaction: ReadTransaction,
    memo: Memo,
    predicatesOf: PredicatesOf,
  ): Caller {
    const result = this.#identify(authorization, memo, { transaction, predicatesOf })
    if (!('rejected' in result)) return result
    this.#options.log(result.rejected)
    throw new RequestError('unauthorized', msg`Unauthorized`)
  }

  /**
   * The document of the key or token, or the verified third-party token. Returns undefined if the secret is unknown or
   * invalid. `text` must not have a scope suffix. Throws Pending while a check is running.
   */
  ownerOf(text: string, transaction: ReadTransaction, memo: Memo): Version | VerifiedToken | undefined {
    if (!looksLikeToken(text)) return this.#documentOf(text, transaction, memo)
    const token = this.#options.providers.verify(text, transaction, memo)
    return 'rejected' in token ? undefined : token
  }

  #identify(header: string | undefined, memo: Memo, admission: Admission): Caller | Rejection {
    if (header === undefined) return { rejected: 'there is no credential' }
    const remembered = this.#known.get(header)
    if (remembered) {
      const caller = admit(remembered, admission)
      if (!('rejected' in caller)) return caller
      this.#known.delete(header)
    }
    const presented = parseAuthorization(header)
    if (!presented) return { rejected: 'the authorization header is malformed' }
    const { text, mayBeToken } = presented
    if (mayBeToken && looksLikeToken(text)) return this.#thirdParty(text, memo, admission)
    const known = this.#recognize(text, memo, admission.transaction)
    if (!known) return { rejected: 'the secret is unknown' }
    const caller = admit(known, admission)
    if (!('rejected' in caller)) this.#known.set(header, known)
    return caller
  }

  #thirdParty(text: string, memo: Memo, admission: Admission): Caller | Rejection {
    const { providers } = this.#options
    const token = providers.verify(text, admission.transaction, memo)
    return 'rejected' in token ? token : providers.caller(token, admission)
  }

  #recognize(text: string, memo: Memo, transaction: ReadTransaction): CachedCredential | undefined {
    const { secret, scope } = parseScopedSecret(text)
    const version = this.#documentOf(secret, transaction, memo)
    if (version) return { kind: 'document', ref: version.ref, storedHash: hashOf(version.fields), scope }
    const root = this.#options.rootSecret?.match(text, memo)
    return root && { kind: 'root', scope: root.scope }
  }

  #documentOf(secret: string, transaction: ReadTransaction, memo: Memo): Version | undefined {
    const parsed = parseSecret(secret)
    if (!parsed) return undefined
    const isToken = parsed.kind === 'token'
    // The protocol also accepts a stored hash of the whole secret.
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

function admit(known: CachedCredential, admission: Admission): Caller | Rejection {
  if (known.kind === 'root') return rootCaller(known.scope, admission)
  const { ref, scope } = known
  const fields = admission.transaction.get(ref)?.fields
  if (!fields || hashOf(fields) !== known.storedHash) return { rejected: 'the key or token is gone' }
  return ref.collection === native.tokens
    ? tokenCaller(ref, fields, admission)
    : keyCaller(ref, fields, scope, admission)
}

/** `mayBeToken` is true only for Bearer: third-party tokens are never sent with Basic. */
interface HeaderCredential {
  readonly text: string
  readonly mayBeToken: boolean
}

/**
 * The scheme of an `authorization` header is Bearer, or Basic with the secret as user name. The protocol allows some
 * deviations from the HTTP standard. Returns undefined for an invalid header.
 */
export function parseAuthorization(header: string): HeaderCredential | undefined {
  if (header.length > limits.authorizationCharsMax) return undefined
  const [scheme, text, ...rest] = header.trim().split(/\s+/, 3)
  if (!text || rest.length > 0) return undefined
  switch (scheme) {
    case 'Bearer':
      return { text, mayBeToken: true }
    case 'Basic':
      return decodeBasic(text)
    default:
      return undefined
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Old drivers append a colon to the encoded text. The decoded text ends with a colon if the password is empty. Removes
 * both.
 */
function decodeBasic(encoded: string): HeaderCredential | undefined {
  const bytes = decodeBase64(withoutColon(encoded))
  if (bytes === undefined) return undefined
  try {
    return { text: withoutColon(utf8.decode(bytes).trim()), mayBeToken: false }
  } catch {
    return undefined
  }
}

function withoutColon(text: string): string {
  return text.endsWith(':') ? text.slice(0, -1) : text
}

/** True for a third-party token, false for a secret. */
export function looksLikeToken(text: string): boolean {
  return text.startsWith('ey') && text.includes('.')
}
