// `terrarium serve`: runs the service until it is told to stop. Standard output gets one line, when it serves;
// everything else is log lines on standard error.

import { type Logger, pino } from 'pino'
import { systemRandom } from '../../base/random.ts'
import { type Config, readConfig, type SettingName, settings } from '../../config.ts'
import { type OpenEngine, type Server, startServer } from '../../server.ts'
import { type Command, StartError } from '../command.ts'
import { explained, prepareDataFolder, reasonOf, storedRootSecret } from '../data-folder.ts'

/** Opens the storage of a data folder and the engine over it. */
export type Open = (config: Config, rootSecret: string | undefined, log: Logger) => Promise<OpenEngine>

/** The command over a way to open the engine. */
export function serveCommand(open: Open): Command {
  return {
    doc: 'Serves the database until SIGTERM or SIGINT, then finishes what is in flight.',
    settings: Object.keys(settings) as SettingName[],
    run: words => run(words, open),
  }
}

async function run(words: readonly string[], open: Open): Promise<number> {
  const config = readConfig(words, process.env)
  const log = pino({ level: config.logLevel }, pino.destination({ fd: 2, sync: true }))
  const stopped = signalled()
  prepareDataFolder(config.data)
  const rootSecret = config.rootSecret ?? rootSecretOf(config.data, log)
  const server = await started(config, await explained(open(config, rootSecret, log)), log)
  process.stdout.write(`Terrarium is ready on ${server.url}\n`)
  const signal = await stopped
  log.info({ signal }, 'stopping')
  await server.close()
  log.info('stopped')
  return 0
}

function rootSecretOf(folder: string, log: Logger): string {
  const { secret, file, created } = storedRootSecret(folder, systemRandom)
  log.info({ file }, created ? `made a root secret: it is in ${file}` : `the root secret is in ${file}`)
  return secret
}

/** Resolves with the first signal that asks to stop; a second one ends the process at once. */
function signalled(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
}

async function started(config: Config, engine: OpenEngine, log: Logger): Promise<Server> {
  try {
    return await startServer(config, engine, log)
  } catch (cause) {
    const { code, path, syscall } = cause as NodeJS.ErrnoException
    const address = `${config.host}:${config.port}`
    if (syscall === 'open') throw new StartError(`cannot read ${path}: ${reasonOf(cause)}`)
    if (code?.startsWith('ERR_OSSL')) {
      throw new StartError(`${config.tlsCert} and ${config.tlsKey} are no usable certificate and key`)
    }
    if (code === 'EADDRINUSE') throw new StartError(`${address} is already in use`)
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new StartError(`cannot serve on ${address}: ${reasonOf(cause)}`)
    }
    throw cause
  }
}
