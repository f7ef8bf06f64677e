// Starts the service within the test's own process: the composition of `terrarium serve` over LMDB in a temporary
// folder, on a free port of a real socket. A start takes some 50 ms, while the start of a process takes a second. The
// slow lane is off, because its processes cost another second; tests of a process, a signal, workers or the slow lane
// use `startProcess` (server-process.ts).

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { readConfig } from '../../src/app/config/read-config.ts'
import { type Config, settings } from '../../src/app/config/settings.ts'
import { claimData } from '../../src/app/data-folder.ts'
import { openEngine } from '../../src/app/open-engine.ts'
import { createServer, type Server } from '../../src/app/server.ts'
import { rootSecretOf } from '../../src/cli/actions/serve.ts'
import { openMetrics } from '../../src/cli/metrics.ts'
import { startOwnCommand } from '../../src/cli/own-commands.ts'
import { removeAddress, writeAddress } from '../../src/cli/service-files.ts'
import { openServiceLog } from '../../src/server/service-log.ts'
import { temporaryFolder } from './program.ts'
import { serviceOfFile } from './service-of-file.ts'
import { assertSound } from './sound.ts'

export interface ServerOptions {
  /**
   * The directory, which the caller checks and removes. The default is a new temporary directory, which `stop` checks
   * and removes.
   */
  readonly data?: string
  /** Flags of `terrarium serve`. */
  readonly flags?: readonly string[]
  /** Variables for the environment; `undefined` removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

export interface RunningServer {
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly url: string
  readonly rootSecret: string
  readonly data: string
  /** The service log so far. */
  stderr(): string
  /** `await using` stops the service at the end of its block. */
  [Symbol.asyncDispose](): Promise<void>
  /** Stops the service cleanly, at the first call. Then checks and removes the data directory, unless the caller named it. */
  stop(): Promise<void>
}

export const testRootSecret = 'root-secret-of-the-tests'

/** bcrypt's lowest cost: hashing would dominate the time of tests that use passwords. */
export const passwordCost = '4'

/** Returns a configuration for a free port. Fails on a flag that does not exist. */
function configOf(data: string, { flags = [], env = {} }: ServerOptions): Config {
  const words = ['--port', '0', '--data', data, ...flags]
  const found = new Map<string, { value: unknown; where: string }>()
  for (let i = 0; i < words.length; i += 2) {
    const [flag = '', value] = words.slice(i, i + 2)
    const name = flag.replace(/^--/, '').replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    assert.ok(Object.hasOwn(settings, name), `terrarium serve has no flag ${flag}`)
    found.set(name, { value, where: flag })
  }
  const variables = { TERRARIUM_ROOT_SECRET: testRootSecret, TERRARIUM_PASSWORD_COST: passwordCost, ...env }
  const config = readConfig(found, { ...process.env, ...variables })
  assert.ok(config.workers === 1 && config.store === undefined, 'workers and nodes need startProcess')
  return config
}

/** Resolves when the service in this process serves; rejects when it cannot start. */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const data = options.data ?? (await temporaryFolder())
  const configured = configOf(data, options)
  let text = ''
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      text += chunk.toString()
      done()
    },
  })
  const log = openServiceLog(configured.logLevel, false, destination)
  const release = claimData(configured)
  const config = { ...configured, rootSecret: await rootSecretOf(configured, log) }
  let server: Server | undefined
  const metrics = await openMetrics(config, log, async () => (await server?.metrics?.metrics()) ?? '')
  const close = async () => {
    removeAddress(data)
    await server?.close()
    await metrics?.close()
    await release()
  }
  const stopOnce = async () => {
    try {
      await close()
      if (options.data === undefined) await assertSound(data)
    } catch (cause) {
      throw new Error(`${(cause as Error).message}; its log:\n${text}`, { cause })
    } finally {
      if (options.data === undefined) await rm(data, { recursive: true, force: true })
    }
  }
  try {
    const opened = await openEngine(config, log, { worker: 0, background: true })
    const startCommand = (words: readonly string[]) => startOwnCommand(config, words)
    server = await createServer(config, opened, log, { worker: 0, startCommand })
    const url = await server.listen()
    writeAddress(data, url)
    const { rootSecret } = config
    let stopped: Promise<void> | undefined
    const stop = () => {
      stopped ??= stopOnce()
      return stopped
    }
    return {
      ...{ url, rootSecret: rootSecret as string, data, stderr: () => text, stop },
      [Symbol.asyncDispose]: stop,
    }
  } catch (cause) {
    await close()
    throw cause
  }
}

/** Starts one server for all tests of a file. Call this at the top of the file, before hooks that use the service. */
export function serverOfFile(options: ServerOptions = {}): RunningServer {
  return serviceOfFile(() => startServer(options))
}
