// The two objects with which a process authenticates clients: the identifier determines the caller of each request, and
// the logins implement the query functions for passwords and secrets.

import type { Clock } from '../../base/clock.ts'
import type { NoticeBoard } from '../../base/notices.ts'
import type { Random } from '../../base/random.ts'
import type { Timers } from '../../base/timers.ts'
import type { Bcrypt } from './bcrypt.ts'
import { Identifier } from './credential.ts'
import { IdentityProviders } from './identity-provider.ts'
import { KeySets } from './jwks.ts'
import { createJwksFetch } from './jwks-fetch.ts'
import { Logins } from './login.ts'
import { Passwords } from './password.ts'
import { RootSecret, SecretVerifier } from './secret.ts'

export interface AuthenticationOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  /** Plain text, or a bcrypt hash. Undefined or empty if there is no root secret. */
  readonly rootSecret: string | undefined
  /** The bcrypt cost of new hashes, 4 to 16. */
  readonly passwordHashCost: number
  /** The audience of an access provider is this prefix, followed by the global id of the database. */
  readonly audiencePrefix: string
  /** Allows fetching key sets over plain HTTP and from private addresses. */
  readonly allowInsecureJwks: boolean
  /** Called with the reason when a credential is rejected. The reason contains no secrets. */
  readonly log: (reason: string) => void
  /** Called when the key set of an access provider is unavailable, which rejects all tokens of the provider. */
  readonly onKeySetFailure?: (uri: string, reason: string) => void
  /** Exchanges failed logins with other processes. Absent if there is only one process. */
  readonly notices?: NoticeBoard | undefined
  /** Tests replace the default. */
  readonly bcrypt?: Bcrypt
}

export interface Authentication {
  readonly identifier: Identifier
  readonly logins: Logins
}

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
  const passwords = new Passwords({ clock, timers, random, notices, cost, ...(bcrypt && { bcrypt }) })
  return { identifier, logins: new Logins({ passwords, verifier, identifier, random }) }
}
