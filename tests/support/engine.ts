// The engine over a store in memory, for tests of the language that need documents but no socket.

import { pino } from 'pino'
import type { Config } from '../../src/app/config/settings.ts'
import { engineOver, type ProcessEnvironment } from '../../src/app/open-engine.ts'
import type { Engine, QueryRequest, QueryResponse } from '../../src/engine/engine-contract.ts'
import type { ApiVersion } from '../../src/fql4/wire/version.ts'
import type { KeyValueStore } from '../../src/storage/kv/kv-contract.ts'
import { openMemory } from '../../src/storage/kv/memory.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { testConfig } from './config.ts'

export const rootSecret = 'the-root-secret-of-a-test'

/** JSON text if numbers must keep their form. */
export type Query = string | object

export interface TestEngineOptions {
  /** Default: a store in memory. Closing the engine also closes the store. */
  readonly kv?: KeyValueStore
  /** Default: the environment of the machine. */
  readonly environment?: ProcessEnvironment
  /** Differ from the settings of the tests. */
  readonly settings?: Partial<Config>
}

export interface SendOptions
  extends Partial<Pick<QueryRequest, 'language' | 'lastSeenTxn' | 'retriesMax' | 'timeoutMs'>> {
  /** By default the root secret. */
  readonly secret?: string
  readonly apiVersion?: ApiVersion
}

export interface TestEngine {
  readonly engine: Engine
  readonly store: Store
  send(query: Query, options?: SendOptions): Promise<QueryResponse>
  /** Must succeed. Returns the `resource`. */
  query(query: Query, options?: SendOptions): Promise<unknown>
  close(): Promise<void>
  /** `await using` closes the engine at the end of its block. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens an empty engine in memory by default. */
export function openTestEngine(options: TestEngineOptions = {}): TestEngine {
  const { kv = openMemory(), settings, ...rest } = options
  const config = testConfig({ rootSecret, ...settings })
  const { engine, store, close } = engineOver({ kv, config, log: pino({ level: 'silent' }), ...rest })
  const send: TestEngine['send'] = async (query, { secret = rootSecret, apiVersion, ...more } = {}) =>
    engine.query(
      {
        authorization: `Bearer ${secret}`,
        language: '4',
        dialect: apiVersion ?? more.language ?? '4',
        body: typeof query === 'string' ? query : JSON.stringify(query),
        timeoutMs: 60_000,
        ...more,
      },
      undefined,
    )
  return {
    engine,
    store,
    send,
    close,
    [Symbol.asyncDispose]: close,
    async query(query, options) {
      const { body, status } = await send(query, options)
      if (status >= 300) throw new Error(`the query failed with ${status}: ${body}`)
      return JSON.parse(body).resource
    },
  }
}
