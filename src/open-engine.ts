// Opens a data folder and builds the engine over it: storage, store, credentials, query language.

import type { Logger } from 'pino'
import { createAccess } from './auth/access.ts'
import { createAuthentication } from './auth/authentication.ts'
import { type Clock, systemClock } from './base/clock.ts'
import { type Random, systemRandom } from './base/random.ts'
import { systemTimers, type Timers } from './base/timers.ts'
import type { Config } from './config.ts'
import { createEngine } from './engine/engine.ts'
import type { KeyValueStore } from './kv/contract.ts'
import { openLmdb } from './kv/lmdb.ts'
import { evaluateBinding } from './query/binding.ts'
import type { EvaluationHost } from './query/evaluation.ts'
import { compileLambda } from './query/language.ts'
import { runPredicate } from './query/predicate.ts'
import type { OpenEngine } from './server.ts'
import { openStore, type TransactionStore } from './store/store.ts'

/** The settings that the engine depends on. */
export type EngineConfig = Pick<Config, 'allowInsecureJwks' | 'audiencePrefix' | 'passwordCost'>

/** Where time and chance come from; tests replay a run by handing in their own. */
export interface Surroundings {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
}

const system: Surroundings = { clock: systemClock, timers: systemTimers, random: systemRandom }

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
  { clock, timers, random }: Surroundings = system,
): OpenEngine & { readonly store: TransactionStore } {
  const now = () => clock.now()
  const { identifier, logins } = createAuthentication({
    clock,
    timers,
    random,
    rootSecret,
    passwordHashCost: config.passwordCost,
    audiencePrefix: config.audiencePrefix,
    allowInsecureJwks: config.allowInsecureJwks,
    log: reason => log.debug({ reason }, 'refused a credential'),
  })
  const host: EvaluationHost = {
    createAccess,
    compile: compileLambda,
    runPredicate,
    now,
    logins,
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
  return { engine, store, check: () => store.check(), close: () => store.close() }
}
