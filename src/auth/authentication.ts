// Puts the parts of authentication together: what the engine asks about a request's credential, and what query
// functions ask about passwords and secrets.

import type { Clock } from '../base/clock.ts'
import type { NoticeBoard } from '../base/notices.ts'
import type { Random } from '../base/random.ts'
import type { Timers } from '../base/timers.ts'
import type { Bcrypt } from './bcrypt.ts'
import { Identifier } from './credential.ts'
import { IdentityProviders } from './identity-provider.ts'
import { KeySets } from './jwks.ts'
import { createJwksFetch } from './jwks-fetch.ts'
import { Logins } from './login.ts'
import { Passwords } from './password.ts'
import { RootSecret } from './root-secret.ts'
import { SecretVerifier } from './secret-verifier.ts'

export interface AuthenticationOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  /** Plain text or a bcrypt hash; undefined or empty: there is no root secret. */
  readonly rootSecret: string | undefined
  /** The bcrypt cost of new password hashes, 4 to 16. */
  readonly passwordHashCost: number
  /** What the audience of an access provider begins with; the database's global id follows. */
  readonly audiencePrefix: string
  /** Lets key sets be fetched over plain HTTP and from private addresses. */
  readonly allowInsecureJwks: boolean
  /** Told why a credential was refused, in words that hold no secrets. */
  readonly log: (reason: string) => void
  /** Told why the key set of an access provider is not available; until then its tokens are refused. */
  readonly onKeySetFailure?: (uri: string, reason: string) => void
  /** By which processes tell each other of wrong passwords; absent: there is one. */
  readonly notices?: NoticeBoard | undefined
  /** For tests. */
  readonly bcrypt?: Bcrypt
}

export interface Authentication {
  readonly identifier: Identifier
  readonly logins: Logins
}

/** Makes the authentication of one process. */
export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { clock, timers, random, rootSecret, audiencePrefix, bcrypt, notices, log } = options
  const verifier = new SecretVerifier(bcrypt)
  const fetch = createJwksFetch({ timers, allowInsecure: options.allowInsecureJwks })
  const keySets = new KeySets(fetch, clock, options.onKeySetFailure)
  const identifier = new Identifier({
    verifier,
    providers: new IdentityProviders({ keySets, audiencePrefix, now: clock.now }),
    rootSecret: rootSecret ? new RootSecret(rootSecret, verifier) : undefined,
    log,
  })
  const cost = options.passwordHashCost
  const passwords = new Passwords({
    clock,
    timers,
    random,
    notices,
    cost,
    ...(bcrypt && { bcrypt }),
  })
  return { identifier, logins: new Logins({ passwords, verifier, identifier, random }) }
}
