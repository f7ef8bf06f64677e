// Verifies tokens (JWTs) of third-party identity providers: compares the claims with the database and the access
// provider, and checks the signature asynchronously, outside of the evaluation. The reason for a rejection is logged
// and never sent to clients.

import { hash } from 'node:crypto'
import { GenerationCache } from '../../base/generation-cache.ts'
import { limits } from '../../base/limits.ts'
import type { Memo } from '../../base/pending.ts'
import type { ReadTransaction, Version } from '../../storage/store/store-contract.ts'
import { decodeBase64 } from '../../values/base64.ts'
import { type Code, codeOf } from '../../values/code.ts'
import { parseJson } from '../../values/json.ts'
import { decodeGlobalId } from '../../values/names.ts'
import {
  type DatabaseId,
  isObject,
  itemsOf,
  type ObjectValue,
  type Ref,
  rootDatabase,
  type Value,
} from '../../values/value.ts'
import type { Caller } from './access-contract.ts'
import type { Admission, Rejection } from './admission.ts'
import { type KeySets, type SignatureAlgorithm, signatureAlgorithms, type VerificationKey } from './jwks.ts'
import { resolveRole } from './role.ts'

/** `payload` contains the claims. */
export interface VerifiedToken {
  readonly database: DatabaseId
  readonly provider: Version
  readonly payload: ObjectValue
}

interface IdentityProviderOptions {
  readonly keySets: KeySets
  /** An audience is this prefix, followed by the global id of the database. */
  readonly audiencePrefix: string
  /** Microseconds since the Unix epoch. */
  readonly now: () => number
}

/** The data for the check of a signature. */
interface SignatureCheck {
  /** A digest of the token, and the URI of the key set. */
  readonly name: string
  readonly token: string
  readonly uri: string
  readonly kid: string | undefined
  readonly algorithm: SignatureAlgorithm
  readonly database: DatabaseId
}

/** Maximum number of cached tokens with a verified signature. Each entry takes about 200 bytes. */
const signedTokensMax = 20_000

export class IdentityProviders {
  readonly #options: IdentityProviderOptions
  /** The key that verified each signature. A token is valid while the provider's key set contains it. */
  readonly #signedBy = new GenerationCache<string, VerificationKey>(signedTokensMax)

  constructor(options: IdentityProviderOptions) {
    this.#options = options
  }

  /** Throws Pending while the signature is being checked. */
  verify(token: string, transaction: ReadTransaction, memo: Memo): VerifiedToken | Rejection {
    if (token.length > limits.authorizationCharsMax) return { rejected: 'the token is too long' }
    const [first = '', second = '', ...rest] = token.split('.', 4)
    const header = parsePart(first)
    const payload = parsePart(second)
    if (!header || !payload || rest.length !== 1) return { rejected: 'the token is malformed' }
    if (header.has('crit')) return { rejected: 'the token has critical extensions' }
    const algorithm = signatureAlgorithms.find(name => name === header.get('alg'))
    if (!algorithm) return { rejected: 'the algorithm is not allowed' }
    const database = this.#audience(payload, transaction)
    if (database === undefined) return { rejected: 'the audience is not a database' }
    const issuer = payload.get('iss')
    const provider =
      typeof issuer === 'string' ? transaction.directory.accessProviderByIssuer(database, issuer) : undefined
    if (!provider) return { rejected: 'the issuer is not an access provider of the database' }
    const rejection = this.#checkTimes(payload)
    if (rejection) return rejection
    const kid = header.get('kid')
    if (kid !== undefined && typeof kid !== 'string') return { rejected: 'the kid is not a string' }
    const uri = provider.fields.get('jwks_uri')
    if (typeof uri !== 'string') return { rejected: 'the access provider has no jwks_uri' }
    const name = `token ${hash('sha256', token)} ${uri}`
    const verified = { database, provider, payload }
    const key = this.#options.keySets.readyKey(uri, kid, algorithm)
    if (key && this.#signedBy.get(name) === key) return verified
    const check = { name, token, uri, kid, algorithm, database }
    const rejected = memo.get(name, () => this.#checkSignature(check))
    return rejected === undefined ? verified : { rejected }
  }

  /**
   * The database in the claim `aud`. Returns undefined if no entry or several entries are audiences of this service,
   * and for the root database, which has no third-party identities.
   */
  #audience(payload: ObjectValue, transaction: ReadTransaction): DatabaseId | undefined {
    const { audiencePrefix } = this.#options
    const matching = itemsOf(payload.get('aud')).filter(
      audience => typeof audience === 'string' && audience.startsWith(audiencePrefix),
    )
    const [audience] = matching
    if (matching.length !== 1 || typeof audience !== 'string') return undefined
    const database = decodeGlobalId(audience.slice(audiencePrefix.length))
    if (database === undefined || database === rootDatabase) return undefined
    return transaction.catalogue.isLive(database) ? database : undefined
  }

  /** The current time must be strictly after `nbf` and strictly before `exp`, without leeway. */
  #checkTimes(payload: ObjectValue): Rejection | undefined {
    const now = this.#options.now() / 1_000_000
    const expires = payload.get('exp')
    const begins = payload.get('nbf')
    if (expires !== undefined && !(isNumber(expires) && Number(expires) > now)) {
      return { rejected: 'the token has expired' }
    }
    if (begins !== undefined && !(isNumber(begins) && Number(begins) < now)) {
      return { rejected: 'the token is not valid yet' }
    }
    return undefined
  }

  /** Resolves to the reason if the signature is invalid. Never rejects. */
  async #checkSignature(check: SignatureCheck): Promise<string | undefined> {
    const { name, token, uri, kid, algorithm, database } = check
    try {
      const key = await this.#options.keySets.key(uri, kid, algorithm, `${database}`)
      const { compactVerify } = await import('jose')
      await compactVerify(token, key, { algorithms: [algorithm] })
      this.#signedBy.set(name, key)
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  /** The caller has the rights of the roles that the access provider assigns to the payload. */
  caller(token: VerifiedToken, { transaction, predicatesOf }: Admission): Caller | Rejection {
    const { database, provider, payload } = token
    const subject = payload.get('sub')
    const callerWithRoles = (roles: readonly Ref[]): Caller => ({
      database,
      authority: { kind: 'roles', database, roles, identity: undefined },
      identity: typeof subject === 'string' ? subject : undefined,
      credential: payload,
    })
    const runPredicate = predicatesOf(callerWithRoles([]))
    const roles = itemsOf(provider.fields.get('roles')).flatMap(entry => {
      const { role, predicate } = readEntry(entry)
      const ref = resolveRole(transaction, database, role)
      if (!ref || predicate === null) return []
      return predicate === undefined || runPredicate(predicate, () => payload) ? [ref] : []
    })
    return roles.length > 0
      ? callerWithRoles(roles)
      : { rejected: 'the access provider gives the token no role' }
  }
}

/** An entry of an access provider's `roles`. `predicate` is null if it is invalid. */
function readEntry(entry: Value): { role: Value; predicate: Code | null | undefined } {
  if (!isObject(entry)) return { role: entry, predicate: undefined }
  const predicate = entry.get('predicate')
  const role = entry.get('role') ?? null
  return { role, predicate: predicate === undefined ? undefined : (codeOf(predicate) ?? null) }
}

function isNumber(value: Value): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number'
}

const base64url = /^[A-Za-z0-9_-]+$/
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The header or the payload: a JSON object as UTF-8 text in base64url. */
function parsePart(part: string): ObjectValue | undefined {
  const bytes = base64url.test(part) ? decodeBase64(part) : undefined
  if (bytes === undefined) return undefined
  try {
    const json = parseJson(utf8.decode(bytes))
    return isObject(json) ? json : undefined
  } catch {
    return undefined
  }
}
