// Opens a data folder and builds the engine over it: storage, store, credentials, query language.

import type { Logger } from 'pino'
import { createAccess } from './auth/access.ts'
import { Identifier } from './auth/credential.ts'
import { IdentityProviders } from './auth/identity-provider.ts'
import { KeySets } from './auth/jwks.ts'
import { createJwksFetch } from './auth/jwks-fetch.ts'
import { Logins } from './auth/login.ts'
import { Passwords } from './auth/password.ts'
import { RootSecret } from './auth/root-secret.ts'
import { SecretVerifier } from './auth/secret-verifier.ts'
import { systemClock } from './base/clock.ts'
import { systemRandom } from './base/random.ts'
import { systemTimers } from './base/timers.ts'
import type { Config } from './config.ts'
import { createEngine } from './engine/engine.ts'
import type { KeyValueStore } from './kv/contract.ts'
import { openLmdb } from './kv/lmdb.ts'
import { evaluateBinding } from './query/binding.ts'
import type { EvaluationHost } from './query/evaluation.ts'
import { compileLambda } from './query/language.ts'
import { runPredicate } from './query/predicate.ts'
import type { OpenEngine } from './server.ts'
import { openStore } from './store/store.ts'

/** The settings that the engine depends on. */
export type EngineConfig = Pick<Config, 'allowInsecureJwks' | 'audiencePrefix' | 'passwordCost'>

/** Opens the data folder of `config`. Without a root secret nobody has its rights. Throws when it cannot be used. */
export async function openEngine(
  config: Config,
  rootSecret: string | undefined,
  log: Logger,
): Promise<OpenEngine> {
  return engineOver(openLmdb({ path: config.data }), config, rootSecret, log)
}

/** Builds the engine over an open key-value store, which is closed with it. */
export function engineOver(
  kv: KeyValueStore,
  config: EngineConfig,
  rootSecret: string | undefined,
  log: Logger,
): OpenEngine {
  const now = systemClock.now
  const verifier = new SecretVerifier()
  const providers = new IdentityProviders({
    keySets: new KeySets(
      createJwksFetch({ allowInsecure: config.allowInsecureJwks, timers: systemTimers }),
      systemClock,
    ),
    audiencePrefix: config.audiencePrefix,
    now,
  })
  const identifier = new Identifier({
    verifier,
    providers,
    rootSecret: rootSecret === undefined ? undefined : new RootSecret(rootSecret, verifier),
    log: reason => log.debug({ reason }, 'refused a credential'),
  })
  const passwords = new Passwords({
    cost: config.passwordCost,
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
  })
  const host: EvaluationHost = {
    createAccess,
    compile: compileLambda,
    runPredicate,
    now,
    logins: new Logins({ passwords, verifier, identifier, random: systemRandom }),
    settings: { audiencePrefix: config.audiencePrefix, allowInsecureJwks: config.allowInsecureJwks },
  }
  const store = openStore(kv, {
    clock: now,
    hooks: { evaluateBinding: (lambda, document) => evaluateBinding(host, lambda, document) },
  })
  const engine = createEngine({
    store,
    host,
    identify: (...request) => identifier.identify(...request),
    onInternalError: error => log.error({ err: error }, 'a request failed'),
  })
  return { engine, check: () => store.check(), close: () => store.close() }
}
