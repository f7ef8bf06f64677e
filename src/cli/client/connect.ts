// Which service the commands that send queries talk to: one at a URL, the one that serves a data directory, or one of their
// own on a folder that is not served.

import { existsSync } from 'node:fs'
import { UsageError } from '../../app/config/read-config.ts'
import type { Config } from '../../app/config/settings.ts'
import { FolderInUseError } from '../../storage/kv/errors.ts'
import { StartError } from '../command.ts'
import { keptRootSecret } from '../secret-file.ts'
import { notedAddress } from '../service-address.ts'
import { QueryConnection, type QueryScope } from './connection.ts'
import type { ClientChoice } from './options.ts'
import { startOwnService } from './own-service.ts'

/** Finds the service, or starts one. Throws {@link UsageError} or {@link StartError}. */
export async function connect(choice: ClientChoice, config: Config): Promise<QueryConnection> {
  const { database, as, timeout: timeoutMs } = choice
  const scope: QueryScope = { database, as }
  const { url } = choice
  if (url !== undefined) {
    if (choice.secret === undefined) throw new UsageError('--url needs --secret (or TERRARIUM_SECRET)')
    return new QueryConnection({ url, secret: choice.secret, scope, timeoutMs })
  }
  const { data } = config
  if (!existsSync(data)) {
    throw new StartError(
      `there is no data directory ${data}: give --data, or --url and --secret of a service`,
    )
  }
  if (!(await isServed(data))) {
    const service = await startOwnService(config)
    const secret = choice.secret ?? service.secret
    return new QueryConnection({ url: service.url, secret, scope, timeoutMs, onClose: service.stop })
  }
  const address = notedAddress(data)
  if (address === undefined) {
    throw new StartError(`the data directory ${data} is served, but not said where: give --url and --secret`)
  }
  const secret = choice.secret ?? config.rootSecret ?? keptRootSecret(data)
  if (secret === undefined) {
    throw new StartError(
      `the data directory ${data} is served by ${address} with a root secret of its own: give --secret`,
    )
  }
  return new QueryConnection({ url: address, secret, scope, timeoutMs })
}

/** Uses the service that {@link connect} finds, and closes the connection; resolves with the exit status 0. */
export async function withConnection(
  choice: ClientChoice,
  config: Config,
  use: (connection: QueryConnection) => Promise<void>,
): Promise<number> {
  const connection = await connect(choice, config)
  try {
    await connection.check()
    await use(connection)
    return 0
  } finally {
    await connection.close()
  }
}

async function isServed(folder: string): Promise<boolean> {
  // The storage engine is only loaded for folders.
  const { claimFolder } = await import('../../storage/kv/lmdb-claim.ts')
  try {
    const release = claimFolder(folder)
    await release()
    return false
  } catch (cause) {
    if (cause instanceof FolderInUseError) return true
    throw cause
  }
}
