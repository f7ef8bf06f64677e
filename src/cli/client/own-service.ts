// Starts a temporary service for a data directory that no service uses. The service is a child process, which exits
// when this process exits. It works like any service: queries can be cancelled, and indexes are built in the
// background.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type Config, type SettingName, settings } from '../../app/config/settings.ts'
import { systemRandom } from '../../base/random.ts'
import { StartError } from '../command.ts'
import { ownEnvironment } from '../own-commands.ts'

/** A running service. */
interface RunningService {
  readonly url: string
  /** Resolves when the process has exited. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

/** A service with a temporary root secret. */
interface OwnService extends RunningService {
  readonly secret: string
}

/** Settings that only matter for serving other clients. */
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
  'metricsPort',
  'metricsHost',
])

const secretBytes = 24

/** Starts a service on the data directory of `config`. Throws {@link StartError} when it cannot start. */
export async function startOwnService(config: Config): Promise<OwnService> {
  const secret = systemRandom.hex(secretBytes)
  const service = await startService({ ...environment(config), TERRARIUM_ROOT_SECRET: secret })
  return { ...service, secret }
}

/**
 * Starts a service with settings from an environment. It exits with this process. `show` gets its standard error.
 * Throws {@link StartError} with the last line of standard error when the service cannot start.
 */
export async function startService(
  env: NodeJS.ProcessEnv,
  show: (text: string) => void = () => undefined,
): Promise<RunningService> {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] as string, 'serve'], {
    env,
    // The channel closes when this process exits for any reason, and the service then exits, too.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Ctrl-C on the terminal then reaches only this process.
    detached: true,
  })
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  let errorOutput = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = lastLines(errorOutput + text)
    show(text)
  })
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', line => {
      const found = /^Terrarium is ready on (\S+)$/.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once('error', reject)
    void ended.then(() => reject(new StartError(lastLine(errorOutput))))
  })
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  return { url, ended, stop }
}

function environment(config: Config): NodeJS.ProcessEnv {
  const names = (Object.keys(settings) as SettingName[]).filter(name => !omittedSettings.has(name))
  const own = { TERRARIUM_PORT: '0', TERRARIUM_QUERY_LOG: 'false', TERRARIUM_LOG_LEVEL: 'silent' }
  return { ...ownEnvironment(config, names), ...own }
}

/** Characters of standard error that are kept. */
const errorOutputMax = 10_000

const lastLines = (text: string) => text.slice(-errorOutputMax)

function lastLine(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? ''
  return line.replace(/^terrarium: /, '') || 'the data directory could not be opened'
}
