// Connects to the database of an import or export: through a running service, or directly in a data directory that no
// service uses.

import { existsSync } from 'node:fs'
import { UsageError } from '../app/config/read-config.ts'
import type { Config } from '../app/config/settings.ts'
import { checkData, prepareDataFolder } from '../app/data-folder.ts'
import { openEngine } from '../app/open-engine.ts'
import { systemRandom } from '../base/random.ts'
import { openServiceLog } from '../server/service-log.ts'
import type { DatabasePath, TransferConnection } from '../transfer/connection.ts'
import { localConnection } from '../transfer/local-connection.ts'
import { remoteConnection } from '../transfer/remote-connection.ts'
import { claimUnlessServed } from './client/connect.ts'
import type { ClientChoice } from './client/options.ts'
import { CommandError } from './command.ts'
import { readAddress, readRootSecret } from './service-files.ts'
import { withTransferErrors } from './transfer-errors.ts'

interface Target {
  readonly connection: TransferConnection
  readonly database: DatabasePath
}

interface TargetInvocation {
  readonly options: Pick<ClientChoice, 'url' | 'secret' | 'database'>
  readonly config: Config
}

/**
 * Connects, runs `use` and closes the connection. Creates a missing data directory if `mayCreate` is true. Throws
 * {@link UsageError} or {@link CommandError} if the connection is impossible, and CommandError if the transfer fails.
 */
export function withTarget<T>(
  invocation: TargetInvocation,
  mayCreate: boolean,
  use: (target: Target) => Promise<T>,
): Promise<T> {
  return withTransferErrors(async () => {
    const target = await openTarget(invocation, mayCreate)
    try {
      return await use(target)
    } finally {
      await target.connection.close()
    }
  })
}

async function openTarget(
  { config, options: { database: path, secret, url } }: TargetInvocation,
  mayCreate: boolean,
): Promise<Target> {
  const database = (path ?? '').split('/').filter(name => name !== '')
  if (url !== undefined) {
    if (secret === undefined) throw new UsageError('--url needs --secret (or TERRARIUM_SECRET)')
    return { connection: remoteConnection(url, secret), database }
  }
  const { data } = config
  if (mayCreate) prepareDataFolder(data)
  else if (!existsSync(data)) throw new CommandError(`there is no data directory ${data}`)
  const release = await claimUnlessServed(data)
  if (release !== undefined) return { connection: await openFolder(config, release), database }
  const address = readAddress(data)
  const knownSecret = secret ?? config.rootSecret ?? readRootSecret(data)
  if (address === undefined || knownSecret === undefined)
    throw new CommandError(`the data directory ${data} is served: give --url and --secret of the service`)
  return { connection: remoteConnection(address, knownSecret), database }
}

async function openFolder(config: Config, release: () => Promise<void>): Promise<TransferConnection> {
  try {
    checkData(config)
    // Can be random, because no other process can use the folder until `release` is called.
    const rootSecret = Buffer.from(systemRandom.bytes(24)).toString('base64url')
    const log = openServiceLog('warn')
    const opened = await openEngine({ ...config, rootSecret }, log, { worker: 0, background: true })
    const close = async () => {
      await opened.close()
      await release()
    }
    return localConnection(config.data, { ...opened, close }, rootSecret)
  } catch (cause) {
    await release()
    throw cause
  }
}
