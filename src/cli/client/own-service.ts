// A service of our own for a data directory that is not served: a child process that ends with this one. It runs queries
// as any service does, so they can be cancelled, and builds indexes in the background.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type Config, type SettingName, settings } from '../../app/config/settings.ts'
import { systemRandom } from '../../base/random.ts'
import { StartError } from '../command.ts'
import { ownEnvironment } from '../own-commands.ts'

/** A running service. */
interface RunningService {
  readonly url: string
  /** Resolves when its process has ended. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

/** One with a root secret of its own. */
interface OwnService extends RunningService {
  readonly secret: string
}

/** Settings that are about serving others. */
const notPassedOn: ReadonlySet<SettingName> = new Set([
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
 * Starts a service with settings from an environment; it ends with this process. `show` is given what it writes to standard error.
 * Throws {@link StartError} with the last of that when it cannot start.
 */
export async function startService(
  env: NodeJS.ProcessEnv,
  show: (text: string) => void = () => undefined,
): Promise<RunningService> {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] as string, 'serve'], {
    env,
    // The channel tells it when this process ends, however that happens.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Ctrl-C at the terminal is meant for this process alone.
    detached: true,
  })
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  let complaint = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = lastLines(complaint + text)
    show(text)
  })
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', line => {
      const found = /^Terrarium is ready on (\S+)$/.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once('error', reject)
    void ended.then(() => reject(new StartError(lastLine(complaint))))
  })
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  return { url, ended, stop }
}

function environment(config: Config): NodeJS.ProcessEnv {
  const names = (Object.keys(settings) as SettingName[]).filter(name => !notPassedOn.has(name))
  const own = { TERRARIUM_PORT: '0', TERRARIUM_QUERY_LOG: 'false', TERRARIUM_LOG_LEVEL: 'silent' }
  return { ...ownEnvironment(config, names), ...own }
}

/** Characters of complaints that are kept: the last one is shown. */
const complaintMax = 10_000

const lastLines = (text: string) => text.slice(-complaintMax)

function lastLine(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? ''
  return line.replace(/^terrarium: /, '') || 'the data directory could not be opened'
}
