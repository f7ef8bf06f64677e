// The composition root: builds the service of one process from its parts, bottom to top, and takes it down in
// the opposite order.

import { readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import type { Logger } from 'pino'
import { createAccess } from './auth/access.ts'
import { createAuthentication } from './auth/authentication.ts'
import { systemClock } from './base/clock.ts'
import { systemRandom } from './base/random.ts'
import { systemTimers } from './base/timers.ts'
import { version } from './base/version.ts'
import type { Config } from './config.ts'
import type { Engine } from './engine/contract.ts'
import { createEngine } from './engine/engine.ts'
import { createApplication } from './http/application.ts'
import { openLmdb } from './kv/lmdb.ts'
import { evaluateBinding } from './query/binding.ts'
import type { EvaluationHost } from './query/evaluation.ts'
import { compileLambda } from './query/language.ts'
import { runPredicate } from './query/predicate.ts'
import { openStore } from './store/store.ts'

/** A running service. */
export interface Server {
  /** Where it is reached, without a slash at the end. */
  readonly url: string
  /** Finishes what is in flight, then closes everything down to the store. */
  close(): Promise<void>
}

/** An engine over open storage, and the way to close it. */
export interface OpenEngine {
  readonly engine: Engine
  close(): Promise<void>
}

/** Opens the data folder and builds the engine over it. Throws StoreUnavailableError when the folder does not let it. */
export async function openEngine(config: Config, rootSecret: string, log: Logger): Promise<OpenEngine> {
  const { audiencePrefix, allowInsecureJwks } = config
  const authentication = createAuthentication({
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    rootSecret,
    passwordHashCost: config.passwordCost,
    audiencePrefix,
    allowInsecureJwks,
    log: reason => log.debug({ reason }, 'credential refused'),
  })
  const host: EvaluationHost = {
    createAccess,
    compile: compileLambda,
    runPredicate,
    now: systemClock.now,
    logins: authentication.logins,
    settings: { audiencePrefix, allowInsecureJwks },
  }
  const store = openStore(openLmdb({ path: config.data }), {
    clock: systemClock.now,
    hooks: { evaluateBinding: (binding, document) => evaluateBinding(host, binding, document) },
  })
  const { identifier } = authentication
  const engine = createEngine({
    store,
    host,
    identify: (...request) => identifier.identify(...request),
    onInternalError: error => log.error({ err: error }, 'query failed by a bug'),
  })
  return { engine, close: () => store.close() }
}

/** Starts to serve `opened`, which belongs to the server from now on: it is closed when starting fails. */
export async function startServer(config: Config, opened: OpenEngine, log: Logger): Promise<Server> {
  try {
    return await serve(config, opened, log)
  } catch (cause) {
    await opened.close()
    throw cause
  }
}

async function serve(config: Config, opened: OpenEngine, log: Logger): Promise<Server> {
  const stopping = new AbortController()
  const { tlsCert, tlsKey } = config
  const secure = tlsCert !== undefined && tlsKey !== undefined
  const services = {
    engine: opened.engine,
    log,
    clock: systemClock,
    random: systemRandom,
    timers: systemTimers,
    stopping: stopping.signal,
  }
  const application = await createApplication(services, {
    build: `${version}-terrarium`,
    pendingRequestsMax: config.pendingRequestsMax,
    listener: {
      host: config.host,
      port: config.port,
      ...(secure ? { tls: { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) } } : {}),
    },
  })
  const port = await application.listen()
  const host = isIPv6(config.host) ? `[${config.host}]` : config.host
  return {
    url: `${secure ? 'https' : 'http'}://${host}:${port}`,
    close: async () => {
      stopping.abort()
      await application.close(config.shutdownGraceMs)
      await opened.close()
    },
  }
}
