// Finds the service to which a command sends queries, by a URL or a data directory. If no service uses the directory,
// starts a temporary one in a child process: it has all functions of a service, so queries can be cancelled, and
// indexes are built in the background.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { UsageError } from '../../app/config/read-config.ts'
import { type Config, type SettingName, settings } from '../../app/config/settings.ts'
import { systemRandom } from '../../base/random.ts'
import { FolderInUseError } from '../../storage/kv/store-errors.ts'
import { CommandError } from '../command.ts'
import { ownEnvironment } from '../own-commands.ts'
import { readAddress, readRootSecret } from '../service-files.ts'
import { QueryConnection, type QueryScope } from './connection.ts'
import type { ClientChoice } from './options.ts'

async function connect(choice: ClientChoice, config: Config): Promise<QueryConnection> {
  const { database, as, timeout: timeoutMs } = choice
  const scope: QueryScope = { database, as }
  const { url } = choice
  if (url !== undefined) {
    if (choice.secret === undefined) throw new UsageError('--url needs --secret (or TERRARIUM_SECRET)')
    return new QueryConnection({ url, secret: choice.secret, scope, timeoutMs })
  }
  const { data } = config
  if (!existsSync(data)) {
    throw new CommandError(
      `there is no data directory ${data}: give --data, or --url and --secret of a service`,
    )
  }
  const release = await claimUnlessServed(data)
  if (release !== undefined) {
    await release()
    const rootSecret = systemRandom.hex(secretBytes)
    const service = await startService({ ...environment(config), TERRARIUM_ROOT_SECRET: rootSecret })
    const secret = choice.secret ?? rootSecret
    return new QueryConnection({ url: service.url, secret, scope, timeoutMs, onClose: service.stop })
  }
  const address = readAddress(data)
  if (address === undefined) {
    throw new CommandError(
      `a service uses the data directory ${data}, but the address of the service is unknown: give --url and --secret`,
    )
  }
  const secret = choice.secret ?? config.rootSecret ?? readRootSecret(data)
  if (secret === undefined) {
    throw new CommandError(
      `the service at ${address} uses the data directory ${data}, and its root secret is in its settings: give --secret`,
    )
  }
  return new QueryConnection({ url: address, secret, scope, timeoutMs })
}

/**
 * Connects, runs `use` and closes the connection. Throws {@link UsageError} for a URL without a secret, and {@link
 * CommandError} if the service on the data directory cannot be found or started.
 */
export async function withConnection<T>(
  choice: ClientChoice,
  config: Config,
  use: (connection: QueryConnection) => Promise<T>,
): Promise<T> {
  const connection = await connect(choice, config)
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

/** Returns the function that releases the claim; undefined when another process, usually a service, uses the folder. */
export async function claimUnlessServed(folder: string): Promise<(() => Promise<void>) | undefined> {
  // Imported here, because only a data directory needs the storage engine.
  const { claimFolder } = await import('../../storage/lmdb/claim.ts')
  try {
    return claimFolder(folder)
  } catch (cause) {
    if (cause instanceof FolderInUseError) return undefined
    throw cause
  }
}

interface RunningService {
  readonly url: string
  readonly ended: Promise<void>
  stop(): Promise<void>
}

/** The settings that a temporary service does not inherit. */
const omittedSettings: ReadonlySet<SettingName> = new Set([
  'port',
  'host',
  'rootSecret',
  'tlsCert',
  'tlsKey',
  'logLevel',
  'workers',
  'publicUrl',
  'queryLog',
  'graphqlPort',
  'metricsPort',
  'metricsHost',
])

const secretBytes = 24

/**
 * Starts a service that exits when this process exits. `show` receives its standard error. Throws {@link CommandError}
 * with the last line of standard error when the service cannot start.
 */
export async function startService(
  env: NodeJS.ProcessEnv,
  show: (text: string) => void = () => undefined,
): Promise<RunningService> {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] as string, 'serve'], {
    env,
    // The channel closes when this process exits, even after a crash. The service then exits.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Keeps Ctrl-C on the terminal from the service.
    detached: true,
  })
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  let errorOutput = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-errorOutputMax)
    show(text)
  })
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', line => {
      const found = /^Terrarium is ready on (\S+)$/.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once('error', reject)
    void ended.then(() => reject(new CommandError(lastLine(errorOutput))))
  })
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  return { url, ended, stop }
}

/** The environment of a temporary service, to which the caller adds a root secret. */
function environment(config: Config): NodeJS.ProcessEnv {
  const names = (Object.keys(settings) as SettingName[]).filter(name => !omittedSettings.has(name))
  const own = { TERRARIUM_PORT: '0', TERRARIUM_QUERY_LOG: 'false', TERRARIUM_LOG_LEVEL: 'silent' }
  return { ...ownEnvironment(config, names), ...own }
}

/** Maximum number of stored characters of standard error. */
const errorOutputMax = 10_000

function lastLine(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? ''
  return line.replace(/^terrarium: /, '') || 'the data directory could not be opened'
}
