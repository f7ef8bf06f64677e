// The API of the npm package: runs a service in the calling process, for the tests of applications.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closestTo } from '../base/closest.ts'
import { nodeVersionFault } from '../base/program-files.ts'
import { systemRandom } from '../base/random.ts'
import { openServiceLog } from '../server/service-log.ts'
import { openMemory } from '../storage/kv/memory.ts'
import { readConfig } from './config/read-config.ts'
import type { Config } from './config/settings.ts'
import { claimData } from './data-folder.ts'
import { engineOver, openEngine } from './open-engine.ts'
import { createServer as serverOver } from './server.ts'

export interface EmbeddedOptions {
  /** The TCP port. The default is a free port. */
  readonly port?: number
  /** The address to serve on. The default is `127.0.0.1`. */
  readonly host?: string
  /** The data directory. Without a directory, the data is in memory and is lost when the service closes. */
  readonly data?: string
  /** The secret with all rights. The default is a random secret. */
  readonly rootSecret?: string
  /** The bcrypt cost of password hashes, 4 to 16. The default is the fastest cost, 4. */
  readonly passwordCost?: number
  /** The default is `silent`. Standard error gets the log, as readable text on a terminal and as JSON elsewhere. */
  readonly logLevel?: Config['logLevel']
}

/** Runs in this process. */
export interface EmbeddedServer {
  /** The URL of the service, such as `http://127.0.0.1:41234`, without a slash at the end. */
  readonly url: string
  readonly port: number
  /** The value of the option `domain` of a driver of version 4. */
  readonly host: string
  readonly rootSecret: string
  /** Finishes the requests in flight and frees all resources. */
  close(): Promise<void>
}

const rootSecretBytes = 24

const optionNames: Readonly<Record<keyof EmbeddedOptions, true>> = {
  port: true,
  host: true,
  data: true,
  rootSecret: true,
  passwordCost: true,
  logLevel: true,
}

/** Throws a TypeError, so that a misspelt option is not ignored silently. */
function rejectUnknown(options: EmbeddedOptions): void {
  const names = Object.keys(optionNames)
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue
    const closest = closestTo(name, names)
    const hint = closest === undefined ? `the options are ${names.join(', ')}` : `did you mean ${closest}?`
    throw new TypeError(`createServer has no option ${name}: ${hint}`)
  }
}

/**
 * Starts a service. Rejects if an option is unknown, Node.js is too old, the address or the data directory cannot be
 * used, or another service uses the directory.
 *
 * The driver's options are `{ scheme: 'http', domain: server.host, port: server.port, secret: server.rootSecret }`.
 */
export async function createServer(options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  const fault = nodeVersionFault(process.versions.node)
  if (fault !== undefined) throw new Error(fault)
  rejectUnknown(options)
  const rootSecret =
    options.rootSecret ?? Buffer.from(systemRandom.bytes(rootSecretBytes)).toString('base64url')
  // The query log needs a folder even when the data is in memory.
  const scratch = options.data === undefined ? await mkdtemp(join(tmpdir(), 'terrarium-')) : undefined
  const config: Config = {
    ...readConfig(new Map(), {}),
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    data: options.data ?? (scratch as string),
    rootSecret,
    passwordCost: options.passwordCost ?? 4,
    logLevel: options.logLevel ?? 'silent',
    // A test should not wait long for requests that its client has abandoned.
    shutdownGraceMs: 1_000,
  }
  const release =
    scratch === undefined ? claimData(config) : () => rm(scratch, { recursive: true, force: true })
  try {
    const log = openServiceLog(config.logLevel)
    const role = { worker: 0, background: true }
    const opened =
      scratch === undefined
        ? await openEngine(config, log, role)
        : engineOver({ kv: openMemory(), config, log, role })
    const server = await serverOver(config, opened, log)
    const url = await server.listen()
    return {
      url,
      port: Number(new URL(url).port),
      host: config.host,
      rootSecret,
      close: async () => {
        try {
          await server.close()
        } finally {
          await release()
        }
      },
    }
  } catch (cause) {
    await release()
    throw cause
  }
}
